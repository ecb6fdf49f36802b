package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/testcheck"
)

const (
	namespace = "millrace"
	apiserver = "https://10.90.0.1:6443"
	firstNode = 2 // that of the bridge is 1
	nodes     = 4 // one more than edges, so that a pod finds another one
	volumes   = 5
)

var must = testcheck.Must

// cluster is a Kubernetes. Its processes end with the test.
type cluster struct {
	*testing.T
	programs, work string // folders
	nodes          map[int]*exec.Cmd
}

// start starts the control plane and the nodes, in the network namespace of this process.
func start(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{T: t, programs: os.Getenv("MILLRACE_KUBERNETES"), work: os.Getenv("MILLRACE_KUBERNETES_WORK"), nodes: map[int]*exec.Cmd{}}
	c.run("bash", "-ec", `ip link set lo up
		ip link add nodes type bridge
		ip address add 10.90.0.1/24 dev nodes
		ip link set nodes up
		cd "$0"
		openssl genrsa -out accounts.key 2048 2>/dev/null`, c.work)
	var tokens strings.Builder
	user := func(file, name, groups string) {
		fmt.Fprintf(&tokens, "token-%s,%s,%s,\"%s\"\n", file, name, name, groups)
		c.write("kubeconfig-"+file, fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c",
			"clusters": [{"name": "c", "cluster": {"server": "%s", "insecure-skip-tls-verify": true}}],
			"users": [{"name": "c", "user": {"token": "token-%s"}}],
			"contexts": [{"name": "c", "context": {"cluster": "c", "user": "c", "namespace": "%s"}}]}`, apiserver, file, namespace))
	}
	user("admin", "admin", "system:masters")
	user("scheduler", "system:kube-scheduler", "")
	for number := firstNode; number < firstNode+nodes; number++ {
		user(fmt.Sprint(number), fmt.Sprintf("system:node:node-%d", number), "system:nodes")
		c.run("ip", "route", "add", fmt.Sprintf("10.91.%d.0/24", number), "via", fmt.Sprintf("10.90.0.%d", number))
	}
	c.write("tokens.csv", tokens.String())

	c.server("etcd", "--data-dir", c.path("etcd"), "--unsafe-no-fsync")
	c.server(c.program("kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379", "--advertise-address=10.90.0.1",
		"--service-cluster-ip-range=10.92.0.0/16", "--authorization-mode=Node,RBAC", "--token-auth-file="+c.path("tokens.csv"),
		"--cert-dir="+c.path("apiserver"), "--allow-privileged", "--enable-admission-plugins=NodeRestriction",
		"--kubelet-preferred-address-types=InternalIP", "--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.path("accounts.key"), "--service-account-signing-key-file="+c.path("accounts.key"))
	c.await("the API server", 3*time.Minute, func() error { _, err := c.try("get", "--raw", "/readyz"); return err })
	c.server(c.program("kube-controller-manager"), "--kubeconfig="+c.path("kubeconfig-admin"), "--leader-elect=false",
		"--service-account-private-key-file="+c.path("accounts.key"), "--node-monitor-grace-period=16s", "--node-monitor-period=2s")
	c.server(c.program("kube-scheduler"), "--kubeconfig="+c.path("kubeconfig-scheduler"), "--leader-elect=false")
	for number := firstNode; number < firstNode+nodes; number++ {
		c.startNode(number)
	}
	for number := range c.nodes {
		name := fmt.Sprintf("node/node-%d", number)
		c.kubectl("wait", "--for=create", name, "--timeout=2m")
		c.kubectl("wait", "--for=condition=Ready", name, "--timeout=2m")
	}
	return c
}

func (c *cluster) path(name string) string    { return filepath.Join(c.work, name) }
func (c *cluster) program(name string) string { return filepath.Join(c.programs, name) }

func (c *cluster) write(name, content string) {
	c.Helper()
	must(c.T, os.WriteFile(c.path(name), []byte(content), 0o600))
}

// server starts a process that ends with the test, with its output in a file of its name.
func (c *cluster) server(program string, args ...string) *exec.Cmd {
	c.Helper()
	name := filepath.Base(program)
	if name == "kubernetes-node.sh" {
		name = "node-" + args[0]
	}
	log, err := os.OpenFile(c.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(c.T, err)
	defer log.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	must(c.T, cmd.Start())
	c.Cleanup(func() {
		_ = cmd.Process.Kill() // a node may have been killed before
		_ = cmd.Wait()
	})
	return cmd
}

func (c *cluster) startNode(number int) {
	c.Helper()
	c.nodes[number] = c.server("../../scripts/kubernetes-node.sh", fmt.Sprint(number), c.work, c.programs, fmt.Sprint(nodes))
}

// killNode ends a node as a loss of power does: all of its processes at once, and its network.
func (c *cluster) killNode(number int) {
	c.Helper()
	must(c.T, c.nodes[number].Process.Kill())
	_ = c.nodes[number].Wait() // killed
	c.run("ip", "link", "delete", fmt.Sprintf("link-%d", number))
}

func (c *cluster) output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.path("kubeconfig-admin"), "HOME="+c.work)
	var out, errors bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errors
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s%s", filepath.Base(name), strings.Join(args, " "), err, errors.String(), out.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// run runs a command that succeeds, and returns what it writes.
func (c *cluster) run(name string, args ...string) string {
	c.Helper()
	out, err := c.output(c.Context(), name, args...)
	must(c.T, err)
	return out
}

func (c *cluster) kubectl(args ...string) string {
	c.Helper()
	return c.run(c.program("kubectl"), args...)
}

// try runs kubectl, which may fail or take for ever.
func (c *cluster) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(c.Context(), 15*time.Second)
	defer cancel()
	return c.output(ctx, c.program("kubectl"), args...)
}

// edge runs millrace in a pod.
func (c *cluster) edge(pod int, args ...string) (string, error) {
	return c.try(append([]string{"exec", fmt.Sprintf("millrace-%d", pod), "--", "millrace", "pubsub"}, args...)...)
}

func (c *cluster) helm(args ...string) {
	c.Helper()
	c.run(c.program("helm"), append(args, "--namespace", namespace, "--timeout", "8m")...)
}

// await returns when f returns no error.
func (c *cluster) await(what string, within time.Duration, f func() error) (took time.Duration) {
	c.Helper()
	begin := time.Now()
	for {
		err := f()
		took = time.Since(begin).Round(10 * time.Millisecond)
		if err == nil {
			return took
		}
		if took > within {
			c.Fatalf("%s: not within %v: %v", what, within, err)
		}
		time.Sleep(200 * time.Millisecond) // the pace of asking
	}
}
