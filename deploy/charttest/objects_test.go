package charttest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What the sets of values make, beside the fields' names and types.
func TestObjects(t *testing.T) {
	for set, want := range map[string]struct {
		replicas, services, budgets, policies, monitors, jobs int
	}{
		"one":          {replicas: 1, services: 2, policies: 1},
		"three":        {replicas: 3, services: 4, budgets: 1, policies: 1, jobs: 1},
		"three-common": {replicas: 3, services: 2, budgets: 1, policies: 1, monitors: 1, jobs: 1},
		"beside":       {replicas: 4, services: 6, budgets: 1, policies: 1},
		"trial":        {replicas: 1, services: 2},
	} {
		t.Run(set, func(t *testing.T) {
			o := objectsOf(t, set)
			if len(o.sets) != 1 || len(o.configs) != 1 || len(o.services) != want.services || len(o.budgets) != want.budgets ||
				len(o.policies) != want.policies || len(o.monitors) != want.monitors || len(o.jobs) != want.jobs {
				t.Fatalf("got %d sets, %d configs, %d services, %d budgets, %d policies, %d monitors, %d jobs; want 1, 1 and %+v",
					len(o.sets), len(o.configs), len(o.services), len(o.budgets), len(o.policies), len(o.monitors), len(o.jobs), want)
			}
			s := o.sets[0]
			if int(*s.Spec.Replicas) != want.replicas {
				t.Errorf("%d replicas, want %d", *s.Spec.Replicas, want.replicas)
			}
			pod := s.Spec.Template
			checkPod(t, pod.Spec)
			ports := map[string]core.ContainerPort{}
			for _, p := range pod.Spec.Containers[0].Ports {
				ports[p.Name] = p
			}

			selecting := func(what string, selector map[string]string) {
				t.Helper()
				for key, value := range selector {
					if key != "statefulset.kubernetes.io/pod-name" && pod.Labels[key] != value {
						t.Errorf("%s selects %s=%s; the pods have %q", what, key, value, pod.Labels[key])
					}
				}
				if len(selector) == 0 {
					t.Errorf("%s selects everything", what)
				}
			}
			selecting("the set", s.Spec.Selector.MatchLabels)
			var names []string
			for _, service := range o.services {
				names = append(names, service.Name)
				selecting("service "+service.Name, service.Spec.Selector)
				for _, p := range service.Spec.Ports {
					target, ok := ports[p.TargetPort.String()]
					if !ok || cmp(target.Protocol) != cmp(p.Protocol) || target.ContainerPort != p.Port {
						t.Errorf("service %s: port %s leads to %+v", service.Name, p.Name, target)
					}
				}
			}
			if !slices.Contains(names, s.Spec.ServiceName) {
				t.Errorf("there is no service %s; there are %v", s.Spec.ServiceName, names)
			}
			for _, b := range o.budgets {
				selecting("the budget", b.Spec.Selector.MatchLabels)
				if *b.Spec.MaxUnavailable != intstr.FromInt32(1) {
					t.Errorf("the budget lets %v pods be away", b.Spec.MaxUnavailable)
				}
			}
			for _, p := range o.policies {
				selecting("the policy", p.Spec.PodSelector.MatchLabels)
				open := map[string]bool{} // whether anybody may reach the port
				for _, rule := range p.Spec.Ingress {
					for _, port := range rule.Ports {
						open[port.Port.String()] = len(rule.From) == 0
						if target := ports[port.Port.String()]; port.Protocol != nil && *port.Protocol != target.Protocol {
							t.Errorf("the policy has %s of %s", *port.Protocol, port.Port)
						}
					}
				}
				if !slices.Equal(slices.Sorted(maps.Keys(open)), slices.Sorted(maps.Keys(ports))) || open["metrics"] || open["routes"] || !open["https-udp"] {
					t.Errorf("the policy has %v", open)
				}
			}
			for _, j := range o.jobs {
				checkShrink(t, j, s.Spec.Selector.MatchLabels, o.policies)
			}
			for _, m := range o.monitors {
				i := slices.IndexFunc(o.services, func(s core.Service) bool { return s.Name == o.sets[0].Spec.ServiceName })
				for key, value := range m.Spec.Selector.MatchLabels {
					if o.services[i].Labels[key] != value {
						t.Errorf("the monitor selects %s=%s, the service has %v", key, value, o.services[i].Labels)
					}
				}
				if m.Spec.Endpoints[0].Port != o.services[i].Spec.Ports[0].Name {
					t.Errorf("the monitor has port %s", m.Spec.Endpoints[0].Port)
				}
				if job := o.services[i].Labels[m.Spec.JobLabel]; job != "millrace" || len(o.rules) != 1 || len(o.rules[0].Spec.Groups[0].Rules) < 20 {
					t.Errorf("the job %q, and the alerts %+v", job, o.rules)
				}
			}
			if !strings.Contains(o.notes, "rollout status statefulset "+s.Name) {
				t.Errorf("notes: %s", o.notes)
			}
		})
	}
}

func cmp(p core.Protocol) core.Protocol {
	if p == "" {
		return core.ProtocolTCP
	}
	return p
}

// checkRestricted checks what the Pod Security Standard `restricted` asks for.
func checkRestricted(t *testing.T, pod core.PodSpec) {
	t.Helper()
	c := pod.Containers[0]
	p, s := pod.SecurityContext, c.SecurityContext
	if !*p.RunAsNonRoot || *p.RunAsUser == 0 || p.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault ||
		*s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || *pod.AutomountServiceAccountToken ||
		!slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
		t.Errorf("the pod may do more than it needs: %+v, %+v", p, s)
	}
}

// checkShrink checks the job that takes members out of the quorum: it is no edge for any selector
// and reaches their routes, it runs before every upgrade, and it needs nothing that the upgrade
// makes.
func checkShrink(t *testing.T, j batch.Job, edges map[string]string, policies []networking.NetworkPolicy) {
	t.Helper()
	pod := j.Spec.Template
	checkRestricted(t, pod.Spec)
	if j.Annotations["helm.sh/hook"] != "pre-upgrade,pre-rollback" || !strings.Contains(j.Annotations["helm.sh/hook-delete-policy"], "before-hook-creation") {
		t.Errorf("the job has %v", j.Annotations)
	}
	if selects(edges, pod.Labels) {
		t.Errorf("the job has the labels of an edge: %v", pod.Labels)
	}
	let := false
	for _, p := range policies {
		for _, rule := range p.Spec.Ingress {
			for _, from := range rule.From {
				let = let || rule.Ports[0].Port.String() == "routes" && selects(from.PodSelector.MatchLabels, pod.Labels)
			}
		}
	}
	if !let {
		t.Error("no policy lets the job reach the routes")
	}
	c := pod.Spec.Containers[0]
	if len(pod.Spec.Volumes) > 0 || !*c.Env[0].ValueFrom.SecretKeyRef.Optional || !slices.Contains(c.Args, "--size=3") {
		t.Errorf("the job is %+v", c)
	}
}

// selects reports whether labels are those that a selector has.
func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

// checkPod checks what ends an edge without losing a message.
func checkPod(t *testing.T, pod core.PodSpec) {
	t.Helper()
	checkRestricted(t, pod)
	c := pod.Containers[0]
	if got := c.ReadinessProbe.HTTPGet; got.Path != "/ready" || got.Port.String() != "metrics" {
		t.Errorf("readiness is %+v", got)
	}
	if got := c.LivenessProbe.HTTPGet; got.Path != "/ping" || got.Port.String() != "metrics" {
		t.Errorf("liveness is %+v: /ready would restart all edges while NATS is away", got)
	}
	if got := c.Lifecycle.PreStop.Exec.Command; !slices.Equal(got, []string{"millrace", "pubsub", "drain"}) {
		t.Errorf("preStop is %q", got)
	}
	if got := *pod.TerminationGracePeriodSeconds; got != 30 {
		t.Errorf("pods are killed after %d s, want 10 s of drain, 10 s of grace period and 10 s", got)
	}
	mounts := map[string]bool{}
	for _, m := range c.VolumeMounts {
		mounts[m.MountPath] = true
	}
	for _, e := range c.Env {
		if e.Name == "XDG_DATA_HOME" && !mounts[e.Value] {
			t.Errorf("no volume is mounted at %s", e.Value)
		}
	}
}

// The time to stop follows the drain.
func TestStopTime(t *testing.T) {
	v := valuesOf(t, "one")
	v["drainSeconds"], v["graceSeconds"] = 60, 20
	files, err := render(v)
	if err != nil {
		t.Fatal(err)
	}
	o := decode(t, files)
	if got := *o.sets[0].Spec.Template.Spec.TerminationGracePeriodSeconds; got != 90 {
		t.Errorf("pods are killed after %d s, want 90", got)
	}
	text := o.configs[0].Data["Caddyfile"]
	if !strings.Contains(text, "drain 60s") || !strings.Contains(text, "grace_period 20s") {
		t.Error(text)
	}
}

// Where there is no Prometheus operator, the chart can be installed all the same, and says what is missing.
func TestWithoutOperator(t *testing.T) {
	for _, c := range []struct {
		kinds []string
		made  int
	}{
		{[]string{"apps/v1/StatefulSet"}, 0},
		{[]string{"apps/v1/StatefulSet", "monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PrometheusRule"}, 1},
	} {
		files, err := render(valuesOf(t, "three-common"), c.kinds...)
		if err != nil {
			t.Fatal(err)
		}
		o := decode(t, files)
		if len(o.monitors) != c.made || len(o.rules) != c.made || strings.Count(o.notes, "has no effect") != 2*(1-c.made) {
			t.Errorf("with %q: %d monitors, %d alerts, notes: %s", c.kinds, len(o.monitors), len(o.rules), o.notes)
		}
	}
}

// What cannot work is refused before it is installed, with a sentence that says why.
func TestRefusedValues(t *testing.T) {
	for want, change := range map[string]func(v map[string]any){
		"host is missing":                  func(v map[string]any) { delete(v, "host") },
		"cannot get a certificate for the": func(v map[string]any) { v["replicas"] = 3 },
		"replicas must be 1, 3 or 5":       func(v map[string]any) { v["replicas"] = 2; v["tls"] = map[string]any{"mode": "internal"} },
		"nats.existingSecret is missing":   func(v map[string]any) { v["replicas"] = 3; v["tls"] = map[string]any{"mode": "internal"} },
		"tls.secretName is missing":        func(v map[string]any) { v["tls"] = map[string]any{"mode": "secret"} },
		"need `broker nats` and": func(v map[string]any) {
			v["replicas"] = 2
			v["tls"] = map[string]any{"mode": "internal"}
			v["nats"] = map[string]any{"embedded": false}
		},
		"additional properties 'hosts' not":      func(v map[string]any) { v["hosts"] = "edge.example.com" },
		"got string, want integer":               func(v map[string]any) { v["replicas"] = "three" },
		"'edge.example.com {\\n\\trespond' does": func(v map[string]any) { v["host"] = "edge.example.com {\n\trespond" },
		"minimum: got 3, want 7":                 func(v map[string]any) { v["drainSeconds"] = 3 },
	} {
		v := valuesOf(t, "one")
		change(v)
		if _, err := render(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
