{{/* Pods differ by their environment alone: POD_NAME, EDGE_HOST. */}}
{{- define "millrace.caddyfile" -}}
{{- $v := .Values -}}
{
	skip_install_trust
	persist_config off
	grace_period {{ int $v.graceSeconds }}s
{{- with $v.tls.email }}
	email {{ . }}
{{- end }}
{{- with $v.tls.ca }}
	acme_ca {{ . }}
{{- end }}
{{- with $v.caddyfile.global }}
{{ regexReplaceAll "(?m)^" (trim .) "\t" }}
{{- end }}

	pubsub {
		drain {{ int $v.drainSeconds }}s
{{- with $v.region }}
		region {{ . }}
{{- end }}
{{- if $v.masterToken.existingSecret }}
		master_token {env.MILLRACE_MASTER_TOKEN} {
			name {{ $v.masterToken.name }}
{{- with $v.masterToken.tenantPrefix }}
			tenant_prefix {{ . }}
{{- end }}
		}
{{- end }}
{{- if include "millrace.cluster" . }}
		broker nats {
			embedded {
				name {env.POD_NAME}
				max_store {{ $v.nats.maxStore }}
				cluster edges {
					listen {{ $v.nats.listen }}
					routes {{ include "millrace.routes" . }}
					user edge
					password {env.MILLRACE_CLUSTER_PASSWORD}
				}
			}
{{- if $v.edges.domain }}
			announce {env.EDGE_HOST}
{{- end }}
		}
		token_store nats {
			replicas 3
		}
		history_store nats {
			replicas 3
		}
{{- else if and (contains "history " $v.caddyfile.pubsub) (not (contains "history_store" $v.caddyfile.pubsub)) (not (contains "broker nats" $v.caddyfile.pubsub)) }}
		history_store badger
{{- end }}
{{- if not (contains "hook audit" (toString $v.caddyfile.pubsub)) }}
		hook audit {
			max_refusals 10
			connections off
		}
{{- end }}
{{- with $v.caddyfile.pubsub }}
{{ regexReplaceAll "(?m)^" (trim .) "\t\t" }}
{{- end }}
	}
}

# For probes and Prometheus.
http://:8080 {
	pubsub_ping
	pubsub_ready
	metrics /metrics
}

{{ include "millrace.sites" . }} {
{{- if eq $v.tls.mode "secret" }}
	tls /etc/millrace/tls/tls.crt /etc/millrace/tls/tls.key
{{- else if eq $v.tls.mode "internal" }}
	tls internal
{{- end }}
	pubsub
{{- if include "millrace.several" . }}
	pubsub_edges
{{- end }}
{{- with $v.caddyfile.site }}
{{ regexReplaceAll "(?m)^" (trim .) "\t" }}
{{- end }}
}
{{- end -}}

{{- define "millrace.sites" -}}
{{- $sites := list -}}
{{- if .Values.host }}{{ $sites = append $sites .Values.host }}{{ end -}}
{{- if .Values.edges.domain }}{{ $sites = append $sites "{$EDGE_HOST}" }}{{ end -}}
{{- join ", " $sites -}}
{{- end -}}

{{- define "millrace.routes" -}}
{{- $name := include "millrace.name" . -}}
{{- $routes := list -}}
{{- range $i := until (int .Values.replicas) -}}
{{- $routes = append $routes (printf "nats://%s-%d.%s-pods.%s.svc:6222" $name $i $name $.Release.Namespace) -}}
{{- end -}}
{{- join " " $routes -}}
{{- end -}}
