{{/* The name of all objects. */}}
{{- define "millrace.name" -}}
{{- if contains "millrace" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-millrace" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selector" -}}
app.kubernetes.io/name: millrace
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* Whether there is a kind of the Prometheus operator. `helm template` knows no cluster, and so no
     kind at all, not even those of Kubernetes: then it is taken to be there. */}}
{{- define "millrace.hasMonitoring" -}}
{{- $known := (index . 0).Capabilities.APIVersions -}}
{{- if or ($known.Has (printf "monitoring.coreos.com/v1/%s" (index . 1))) (not ($known.Has "apps/v1/StatefulSet")) }}true{{ end -}}
{{- end -}}

{{- define "millrace.several" -}}
{{- if gt (int .Values.replicas) 1 }}true{{ end -}}
{{- end -}}

{{- define "millrace.cluster" -}}
{{- if and (include "millrace.several" .) .Values.nats.embedded }}true{{ end -}}
{{- end -}}

{{/* Values that fit each other only in some combinations, which the schema does not say. */}}
{{- define "millrace.check" -}}
{{- $v := .Values -}}
{{- if not (or $v.host $v.edges.domain) }}
{{- fail "host is missing: the name under which clients reach the edge (or edges.domain, a name for each)" }}
{{- end }}
{{- if and (eq $v.tls.mode "secret") (not $v.tls.secretName) }}
{{- fail "tls.secretName is missing: a Secret of the type kubernetes.io/tls" }}
{{- end }}
{{- if include "millrace.several" . }}
{{- if and (eq $v.tls.mode "acme") $v.host }}
{{- fail "several edges cannot get a certificate for the common name in host: use tls.mode secret, or edges.domain and no host" }}
{{- end }}
{{- if $v.nats.embedded }}
{{- if not (has (int $v.replicas) (list 3 5)) }}
{{- fail "replicas must be 1, 3 or 5 with nats.embedded: of two servers, one alone is no majority" }}
{{- end }}
{{- if not $v.nats.existingSecret }}
{{- fail "nats.existingSecret is missing: a Secret with the password of the routes" }}
{{- end }}
{{- else if not (regexMatch "(?m)^\\s*broker\\s+nats\\b" $v.caddyfile.pubsub) }}
{{- fail "several edges without nats.embedded need `broker nats` and `token_store nats` in caddyfile.pubsub" }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Of all pods: what they may, as the standard `restricted` asks for. */}}
{{- define "millrace.restricted" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* And of their containers. */}}
{{- define "millrace.container" -}}
image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* The labels of the job before an upgrade, which no selector of the edges has. */}}
{{- define "millrace.shrink" -}}
app.kubernetes.io/name: millrace-shrink
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
