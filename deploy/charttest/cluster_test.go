package charttest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	apps "k8s.io/api/apps/v1"
)

// environment is that of the container in a pod of the set, with its data in a folder. A
// Secret that is not among secrets leaves its variables out.
func environment(t *testing.T, set apps.StatefulSet, pod int, data string, secrets map[string]string) (env []string) {
	t.Helper()
	name := fmt.Sprintf("%s-%d", set.Name, pod)
	for _, e := range set.Spec.Template.Spec.Containers[0].Env {
		value := strings.ReplaceAll(e.Value, "$(POD_NAME)", name)
		switch from := e.ValueFrom; {
		case strings.HasPrefix(value, "/data"):
			value = data + strings.TrimPrefix(value, "/data")
		case from == nil:
		case from.FieldRef != nil && from.FieldRef.FieldPath == "metadata.name":
			value = name
		case from.SecretKeyRef != nil:
			secret, ok := secrets[from.SecretKeyRef.Name]
			if !ok {
				continue
			}
			value = secret
		default:
			t.Fatalf("unexpected source of %s", e.Name)
		}
		env = append(env, e.Name+"="+value)
	}
	return env
}

// The Caddyfile of each set of values is one that the edge accepts.
func TestCaddyfiles(t *testing.T) {
	const master = "MT_00000000000000000000000000000001_00000000000000000000000000000002"
	for _, set := range values {
		t.Run(set, func(t *testing.T) {
			dir := t.TempDir()
			o := objectsOf(t, set)
			certificate(t, dir, "edge.example.com")
			text := o.configs[0].Data["Caddyfile"]
			path := filepath.Join(dir, "Caddyfile")
			write(t, path, []byte(strings.ReplaceAll(text, "/etc/millrace/tls/", dir+"/")))
			secrets := map[string]string{"millrace-master": master, "millrace-routes": "routes", "millrace-nats": "nats"}
			env := environment(t, o.sets[0], 0, dir, secrets)
			if _, err := cli(t, env, "validate", "--config", path); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			if set == "one" { // without its Secret it starts no edge
				delete(secrets, "millrace-master")
				env := environment(t, o.sets[0], 0, dir, secrets)
				if _, err := cli(t, env, "validate", "--config", path); err == nil || strings.Contains(err.Error(), master) {
					t.Errorf("without the master token: %v", err)
				}
			}
		})
	}
}

// Three processes with the Caddyfile of the StatefulSet are one overlay: only addresses and
// ports are replaced, since the processes are in one network.
func TestCluster(t *testing.T) {
	o := objectsOf(t, "three-common")
	text, set := o.configs[0].Data["Caddyfile"], o.sets[0]
	dir := t.TempDir()
	var ips []string
	for i := range int(*set.Spec.Replicas) {
		// Addresses of this process alone.
		ips = append(ips, fmt.Sprintf("127.%d.%d.%d", 64+os.Getpid()>>8&63, os.Getpid()&255, i+1))
	}
	jobIP := fmt.Sprintf("127.%d.%d.9", 64+os.Getpid()>>8&63, os.Getpid()&255) // of the job
	certificate(t, dir, ips...)
	ca := filepath.Join(dir, "ca.crt")
	if err := os.Link(filepath.Join(dir, "tls.crt"), ca); err != nil {
		t.Fatal(err)
	}

	replace := func(text, old, replacement string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the Caddyfile has no %q:\n%s", old, text)
		}
		return strings.ReplaceAll(text, old, replacement)
	}
	for i, ip := range ips {
		host := fmt.Sprintf("%s-%d.%s.%s.svc:6222", set.Name, i, set.Spec.ServiceName, namespace)
		text = replace(text, host, ip+":6222")
	}
	text = replace(text, "/etc/millrace/tls/", dir+"/")
	// The job before an upgrade has nothing to do: there is no cluster, and later nobody is too many.
	shrink := func(want string) {
		t.Helper()
		args := slices.Clone(o.jobs[0].Spec.Template.Spec.Containers[0].Args)
		for i, arg := range args {
			args[i] = strings.NewReplacer(set.Spec.ServiceName+"."+namespace+".svc", ips[0], "0.0.0.0", jobIP).Replace(arg)
		}
		if out, err := cli(t, []string{"MILLRACE_CLUSTER_PASSWORD=routes"}, args...); err != nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v, %s", args, err, out)
		}
	}
	shrink("nothing is removed")
	var edges []*edge
	for i, ip := range ips {
		home := filepath.Join(dir, fmt.Sprint(i))
		own := replace(text, "0.0.0.0:6222", ip+":6222")
		own = replace(own, "edge.example.com {", ip+" {")
		own = replace(own, "skip_install_trust", fmt.Sprintf("skip_install_trust\n\tadmin %s\n\tdefault_bind %s\n\thttp_port 8081\n\thttps_port 8443", admin(home), ip))
		if err := os.Mkdir(home, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(home, "Caddyfile"), []byte(own))
		env := environment(t, set, i, home, map[string]string{"millrace-routes": "routes"})
		edges = append(edges, start(t, ip, home, env))
		if i == 0 { // one of three is no majority: it answers probes, and is not ready
			await(t, "the first edge", func() bool { status, _ := edges[0].ready(t); return status != 0 })
			if status, body := edges[0].ready(t); status != 503 {
				t.Fatalf("one edge of three: %d %s", status, body)
			}
		}
	}
	for i, e := range edges {
		await(t, fmt.Sprintf("edge %d, ready", i), func() bool { status, _ := e.ready(t); return status == 200 })
	}

	shrink("The members of the cluster are " + strings.Join([]string{set.Name + "-0", set.Name + "-1", set.Name + "-2"}, ", "))

	// A token of one edge, a subscriber at another one, a publisher at the third.
	issue := func(e *edge) string {
		t.Helper()
		token, err := cli(t, nil, "pubsub", "token", "issue", "--address", admin(e.home), "--tenant", "demo", "--pub", "#", "--sub", "#", "--quiet")
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	env := []string{"MILLRACE_TOKEN=" + issue(edges[0])}
	at := func(e *edge, verb string, args ...string) []string {
		return append([]string{"pubsub", verb, "--url", "wss://" + e.ip + ":8443/ws", "--ca", ca, "--tenant", "demo"}, args...)
	}
	ctx, stop := context.WithCancel(t.Context())
	var received output
	subscriber := command(ctx, t, env, at(edges[1], "subscribe", "news.#")...)
	subscriber.Stdout, subscriber.Stderr = &received, &received
	if err := subscriber.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = subscriber.Wait() // killed
	}()
	publish := func(e *edge, payload string) {
		t.Helper()
		// A live message reaches those who have subscribed by now, so it may take several.
		await(t, payload+"\n"+received.String(), func() bool {
			if _, err := cli(t, env, at(e, "publish", "news.today", payload)...); err != nil {
				t.Fatal(err)
			}
			return strings.Contains(received.String(), "news.today "+payload)
		})
	}
	publish(edges[2], "hello")

	// The first pod stops, as a kubelet stops it. The others are a majority.
	if _, err := cli(t, nil, append(set.Spec.Template.Spec.Containers[0].Lifecycle.PreStop.Exec.Command[1:], "--address", admin(edges[0].home))...); err != nil {
		t.Fatal(err)
	}
	if status, body := edges[0].ready(t); status != 503 || !strings.Contains(body, "draining") {
		t.Errorf("an edge that drains: %d %s", status, body)
	}
	if err := edges[0].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-edges[0].exit; err != nil {
		t.Errorf("an edge that is told to stop: %v", err)
	}
	await(t, "the two others, ready", func() bool {
		second, _ := edges[1].ready(t)
		third, _ := edges[2].ready(t)
		return second == 200 && third == 200
	})
	var token string
	await(t, "a token without the first edge", func() (ok bool) { // the bucket may need another leader
		var err error
		token, err = cli(t, nil, "pubsub", "token", "issue", "--address", admin(edges[2].home), "--tenant", "demo", "--pub", "#", "--quiet")
		return err == nil
	})
	env[0] = "MILLRACE_TOKEN=" + token
	publish(edges[2], "again")

	// It does not come back: what that means is seen, and the others go on without it.
	first := set.Name + "-0"
	await(t, "a warning of one more loss", func() bool {
		_, body := edges[1].ready(t)
		return strings.Contains(body, "2 of 3 members of the cluster of the embedded NATS servers run: one more loss stops it")
	})
	for _, want := range [][3]string{
		{"pubsub edges", first + "   offline", "one more loss stops the cluster"},
		{"pubsub edges remove " + first, first + " is removed from the cluster.", "KV_millrace_tokens: has 2 of 3 replicas"},
		{"pubsub edges", set.Name + "-1", "2 of 2 members run"},
	} {
		args := append(strings.Fields(want[0]), "--address", admin(edges[2].home))
		out, err := cli(t, nil, args...)
		if err != nil || !strings.Contains(out, want[1]) || !strings.Contains(out, want[2]) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}

	// A renewed certificate, as a kubelet updates the Secret's files.
	certificate(t, dir, ips...)
	if _, err := cli(t, edges[1].cmd.Env, "reload", "--force", "--config", filepath.Join(edges[1].home, "Caddyfile")); err != nil {
		t.Fatal(err)
	}
	served(t, edges[1], filepath.Join(dir, "tls.crt"))
	served(t, edges[2], ca)
	publish(edges[2], "after the reload")
}

// served checks that an edge has a certificate of this authority.
func served(t *testing.T, e *edge, ca string) {
	t.Helper()
	content, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(content)
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: pool}}
	conn, err := dialer.DialContext(t.Context(), "tcp", e.ip+":8443")
	if err != nil {
		t.Errorf("edge %s: %v", e.ip, err)
		return
	}
	conn.Close()
}
