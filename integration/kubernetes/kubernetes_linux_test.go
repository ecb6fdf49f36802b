package kubernetes

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
)

// The chart in a cluster that enforces the Pod Security Standard `restricted`: installed, restarted
// in a rolling way, given other limits of its history, scaled from three edges to five and back, and with
// nodes that lose their power. Clients publish and subscribe all the time. The steps build on each other.
func TestKubernetes(t *testing.T) {
	if os.Getenv("MILLRACE_KUBERNETES") == "" {
		t.Skip("there is no Kubernetes here: run scripts/soak.sh kubernetes")
	}
	c := start(t)
	options := c.prepare()
	c.serveNames()
	c.values(3, 1, 100_000)
	begin := time.Now()
	c.helm("install", "millrace", "../../deploy/chart/millrace", "--values", c.path("values.yaml"), "--wait")
	t.Logf("installed: three edges are ready after %v", time.Since(begin).Round(time.Second))
	c.logPlaces()

	r := c.begin(options)
	steps := []struct {
		name string
		play func(*cluster, *traffic)
		// whether messages without positions may be lost
		loses bool
	}{
		{"quiet", func(*cluster, *traffic) { time.Sleep(5 * time.Second) }, false},
		{"rolling restart", (*cluster).restart, false},
		{"node returns", func(c *cluster, r *traffic) { c.returns(r, 2) }, true},
		{"node replaced", (*cluster).replaced, true},
		{"limits changed", (*cluster).limits, false},
		{"scaled to five", func(c *cluster, _ *traffic) { c.scale(5) }, false},
		{"scaled to three", func(c *cluster, _ *traffic) { c.scale(3) }, false},
		{"node returns, afterwards", func(c *cluster, r *traffic) { c.returns(r, 0) }, true},
	}
	for _, step := range steps {
		begin := time.Now()
		t.Logf("== %s", step.name)
		step.play(c, r)
		time.Sleep(2 * time.Second) // what is under way
		lost := r.report(fmt.Sprintf("== %s took %v", step.name, time.Since(begin).Round(time.Second)))
		if lost > 0 && !step.loses {
			t.Errorf("%s: %d messages without positions were lost", step.name, lost)
		}
		c.logPlaces()
	}
	r.finish()
}

// prepare makes what the chart needs in its namespace, and returns how clients trust the edges.
func (c *cluster) prepare() client.Options {
	c.Helper()
	c.run("bash", "-ec", `cd "$0"
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -keyout tls.key -out tls.crt \
			-subj /CN=edges.test -addext 'subjectAltName=DNS:*.edges.test' 2>/dev/null`, c.work)
	c.kubectl("create", "namespace", namespace)
	c.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
	c.kubectl("create", "secret", "generic", "millrace-routes", "--from-literal=password=routes")
	c.kubectl("create", "secret", "tls", "edges-tls", "--cert="+c.path("tls.crt"), "--key="+c.path("tls.key"))
	// Disks in the network: a pod finds its own on each node.
	objects := `{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disks"}, "provisioner": "kubernetes.io/no-provisioner"}`
	for i := range volumes {
		path := c.path(fmt.Sprintf("volumes/%d", i))
		must(c.T, os.MkdirAll(path, 0o755))
		must(c.T, os.Chown(path, 65532, 65532))
		objects += fmt.Sprintf(`
{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk-%d"}, "spec": {"capacity": {"storage": "5Gi"},
	"accessModes": ["ReadWriteOnce"], "storageClassName": "disks", "hostPath": {"path": "%s", "type": "Directory"}}}`, i, path)
	}
	c.write("objects.json", objects)
	c.kubectl("apply", "-f", c.path("objects.json"))
	c.refused()

	certificate, err := os.ReadFile(c.path("tls.crt"))
	must(c.T, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return client.Options{TLS: &tls.Config{RootCAs: roots}, ConnectTimeout: 5 * time.Second}
}

// refused checks that the standard is enforced.
func (c *cluster) refused() {
	c.Helper()
	c.kubectl("wait", "--for=create", "serviceaccount/default", "--timeout=1m")
	_, err := c.try("run", "root", "--image=pause:soak", "--restart=Never")
	if err == nil || !strings.Contains(err.Error(), "violates PodSecurity \"restricted") {
		c.Fatalf("a pod that may run as root: %v", err)
	}
}

// values writes the values of the chart.
func (c *cluster) values(replicas, version, messages int) {
	c.Helper()
	c.write("values.yaml", fmt.Sprintf(`
replicas: %d
edges: {domain: edges.test, service: {type: ClusterIP}}
tls: {mode: secret, secretName: edges-tls}
nats: {existingSecret: millrace-routes}
persistence: {storageClass: disks}
resources: {requests: {cpu: 50m, memory: 128Mi}, limits: {memory: 1Gi}}
caddyfile:
  pubsub: |
    history chat {
      version %d
      channels chat.#
      messages %d
    }
`, replicas, version, messages))
}

func (c *cluster) issue(pod int, subject string) string {
	c.Helper()
	var token string
	took := c.await("a token", 2*time.Minute, func() (err error) {
		token, err = c.edge(pod, "token", "issue", "--tenant", tenant, "--subject", subject, "--pub", "#", "--sub", "#", "--history", "#", "--expires-in", "4h", "--quiet")
		return err
	})
	c.Logf("millrace-%d has issued a token after %v", pod, took)
	return token
}

func (c *cluster) begin(options client.Options) *traffic {
	c.Helper()
	options.Token = c.issue(0, "soak")
	var addresses []string
	for i := range 3 {
		addresses = append(addresses, fmt.Sprintf("https://millrace-%d.%s/edges", i, strings.TrimSuffix(domain, ".")))
	}
	return begin(c.T, addresses, options)
}

func (c *cluster) logPlaces() {
	c.Helper()
	c.Log(c.kubectl("get", "pods", "-o", "custom-columns=POD:.metadata.name,NODE:.spec.nodeName,IP:.status.podIP,RESTARTS:.status.containerStatuses[0].restartCount,READY:.status.containerStatuses[0].ready"))
}

func (c *cluster) rolledOut(within time.Duration) {
	c.Helper()
	c.kubectl("rollout", "status", "statefulset", "millrace", "--timeout", within.String())
}

func (c *cluster) restart(*traffic) {
	c.kubectl("rollout", "restart", "statefulset", "millrace")
	c.rolledOut(8 * time.Minute)
}

func (c *cluster) scale(replicas int) {
	c.values(replicas, 2, 50_000)
	c.helm("upgrade", "millrace", "../../deploy/chart/millrace", "--values", c.path("values.yaml"), "--wait")
	c.rolledOut(8 * time.Minute)
}

// limits checks that another limit of the history comes into effect at each edge.
func (c *cluster) limits(*traffic) {
	c.values(3, 2, 50_000)
	c.helm("upgrade", "millrace", "../../deploy/chart/millrace", "--values", c.path("values.yaml"), "--wait")
	c.rolledOut(8 * time.Minute)
	for pod := range 3 {
		list, err := c.edge(pod, "history", "list", "--json")
		must(c.T, err)
		var got struct {
			Totals []struct {
				History   string
				Effective struct{ Version, Messages int }
				Drift     []any
			}
		}
		must(c.T, json.Unmarshal([]byte(list), &got))
		if len(got.Totals) != 1 || got.Totals[0].Effective.Messages != 50_000 || len(got.Totals[0].Drift) > 0 {
			c.Errorf("edge %d does not keep 50,000 messages: %s", pod, list)
		}
	}
}

// nodeOf returns the number of the node of a pod.
func (c *cluster) nodeOf(pod int) (number int) {
	c.Helper()
	name := c.kubectl("get", "pod", fmt.Sprintf("millrace-%d", pod), "-o", "jsonpath={.spec.nodeName}")
	_, err := fmt.Sscanf(name, "node-%d", &number)
	must(c.T, err)
	return number
}

func (c *cluster) awaitReady(pod int, within time.Duration) {
	c.Helper()
	took := c.await(fmt.Sprintf("millrace-%d, ready", pod), within, func() error {
		got, err := c.try("get", "pod", fmt.Sprintf("millrace-%d", pod), "-o", "jsonpath={.metadata.deletionTimestamp} {.status.conditions[?(@.type=='Ready')].status}")
		if err == nil && got != "True" {
			err = errors.New(got)
		}
		return err
	})
	c.Logf("millrace-%d is ready after %v", pod, took)
}

// revoke checks that a revocation is for all edges that live.
func (c *cluster) revoke(r *traffic, at int) {
	c.Helper()
	token := c.issue(at, "revoked")
	revoked := r.revocable(token)
	begin := time.Now()
	c.await("a revocation", time.Minute, func() error { _, err := c.edge(at, "token", "revoke", "--subject", "revoked"); return err })
	answered := time.Now()
	select {
	case <-revoked.Done():
	case <-time.After(time.Minute):
	}
	c.Logf("revoked: answered after %v, the client at %s ended %v later: %v", answered.Sub(begin).Round(10*time.Millisecond),
		revoked.Edge(), time.Since(answered).Round(10*time.Millisecond), revoked.Err())
	if !errors.Is(revoked.Err(), client.ErrTokenRevoked) {
		c.Errorf("a client with a revoked token: %v", revoked.Err())
	}
}

// returns cuts the power of the node of a pod for a while. The other edges go on: they store messages
// and issue tokens, which takes a majority. The pod comes back with its node.
func (c *cluster) returns(r *traffic, pod int) {
	number, other := c.nodeOf(pod), (pod+1)%3
	c.killNode(number)
	c.revoke(r, other)
	time.Sleep(45 * time.Second)
	r.report(fmt.Sprintf("without node-%d", number))
	for other := range 3 {
		if answer, err := c.edge(other, "ready"); other != pod && err != nil {
			c.Errorf("millrace-%d without millrace-%d: %s, %v", other, pod, answer, err)
		}
	}
	c.startNode(number)
	c.awaitReady(pod, 4*time.Minute)
	c.rolledOut(2 * time.Minute)
}

// replaced cuts the power of a node for good: an operator says that it does not come back, and its pod
// finds another one.
func (c *cluster) replaced(r *traffic) {
	number := c.nodeOf(1)
	name := fmt.Sprintf("node-%d", number)
	c.killNode(number)
	c.revoke(r, 2)
	c.kubectl("wait", "--for=condition=Ready=Unknown", "node/"+name, "--timeout=2m")
	c.kubectl("taint", "node", name, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
	c.await("another node", 4*time.Minute, func() error {
		got, err := c.try("get", "pod", "millrace-1", "-o", "jsonpath={.spec.nodeName}")
		if err == nil && (got == "" || got == name) {
			err = fmt.Errorf("millrace-1 is at %q", got)
		}
		return err
	})
	c.awaitReady(1, 4*time.Minute)
	c.rolledOut(2 * time.Minute)
	c.startNode(number)
	c.kubectl("taint", "node", name, "node.kubernetes.io/out-of-service-")
	c.kubectl("wait", "--for=condition=Ready", "node/"+name, "--timeout=2m")
}
