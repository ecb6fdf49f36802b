package embedded

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/millrace/millrace/internal/loopback"
)

// member runs a server of a cluster, as an edge does.
func member(t *testing.T, c *Cluster) *running {
	t.Helper()
	return serve(t, &Server{Name: strings.ReplaceAll(c.Listen, ":", "_"), Dir: t.TempDir(), Cluster: c})
}

// errorLog notes the errors that a server logs.
type errorLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *errorLog) Errorf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, v...))
}

func (l *errorLog) has(words string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(strings.Join(l.lines, "\n"), words)
}

func (l *errorLog) Noticef(string, ...any)         {}
func (l *errorLog) Warnf(string, ...any)           {}
func (l *errorLog) Fatalf(string, ...any)          {}
func (l *errorLog) Debugf(string, ...any)          {}
func (l *errorLog) Tracef(format string, v ...any) {}

// Servers with the password and certificates of one authority are a cluster, and no
// other server becomes a member of it.
func TestClusterOverTLS(t *testing.T) {
	t.Setenv("CLUSTER_PASSWORD", password)
	ours, theirs := newAuthority(t), newAuthority(t)
	var list [2]string
	for i := range list {
		list[i] = fmt.Sprintf("127.0.0.1:%d", loopback.FreePort(t))
	}
	join := func(i int) *running {
		return member(t, &Cluster{
			Name: "edges", Listen: list[i], Routes: []string{"nats://" + list[0], "nats://" + list[1]},
			User: "edge", Password: "{env.CLUSTER_PASSWORD}", TLS: ours.issue(fmt.Sprint("edge-", i)),
		})
	}
	one := join(0)

	strange := func(user *url.Userinfo, t0 *ClusterTLS, refusal string) {
		t.Helper()
		o := &server.Options{
			ServerName: "stranger", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true,
			Cluster: server.ClusterOpts{Name: "edges", Host: "127.0.0.1", Port: server.RANDOM_PORT},
			Routes:  []*url.URL{{Scheme: "nats", Host: list[0], User: user}},
		}
		if t0 != nil {
			var err error
			o.Cluster.TLSConfig, err = t0.config()
			must(t, err)
			o.Cluster.TLSConfig.InsecureSkipVerify = true // a stranger trusts anybody
			o.Cluster.TLSTimeout = 2
		}
		s, err := server.NewServer(o)
		must(t, err)
		var log errorLog
		one.SetLogger(&log, false, false)
		s.Start()
		defer s.WaitForShutdown()
		defer s.Shutdown()
		await(t, "the stranger to be refused: "+refusal, func() bool { return log.has(refusal) })
		if n := one.NumRoutes(); n != 0 {
			t.Errorf("a stranger has %d routes", n)
		}
	}
	good := url.UserPassword("edge", password)
	strange(nil, ours.issue("no password"), "authentication error")
	strange(url.UserPassword("edge", "guess"), ours.issue("wrong password"), "authentication error")
	strange(good, theirs.issue("their certificate"), "TLS route handshake error")

	// Without a certificate the handshake itself ends, whatever is said after it.
	conn, err := tls.Dial("tcp", list[0], &tls.Config{InsecureSkipVerify: true}) // as above
	if err == nil {
		_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
		_, err = conn.Read(make([]byte, 1)) // TLS 1.3 tells the client here
		_ = conn.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "certificate required") {
		t.Errorf("without a certificate: %v", err)
	}
	// And without TLS there is nobody to talk to.
	plain, err := net.Dial("tcp", list[0])
	must(t, err)
	defer plain.Close()
	_ = plain.SetDeadline(time.Now().Add(30 * time.Second))
	must(t, errorOf(fmt.Fprintf(plain, "CONNECT {\"user\":\"edge\",\"pass\":%q,\"name\":\"x\"}\r\n", password)))
	answer := make([]byte, 512)
	if n, err := plain.Read(answer); err == nil && strings.Contains(string(answer[:n]), "INFO") {
		t.Errorf("without TLS the server says %q", answer[:n])
	}

	two := join(1)
	await(t, "the cluster", func() bool { return one.NumRoutes() > 0 && two.NumRoutes() > 0 })

	// A certificate that was renewed holds for the next route, without a restart.
	must(t, two.Destruct())
	await(t, "the end of the routes", func() bool { return one.NumRoutes() == 0 })
	ours.issue("edge-0")
	two = join(1)
	await(t, "the cluster again", func() bool { return one.NumRoutes() > 0 && two.NumRoutes() > 0 })
}
