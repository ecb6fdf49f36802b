package operations

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"testing"

	"github.com/millrace/millrace/integration/harness"
)

// An edge renews its certificate when it is 4 s old. Sessions that are open stay open and lose no
// message, also after theirs has expired; new ones, over both transports, get the new certificate.
func TestCertificateRenewal(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.Replaced(t, harness.DefaultCaddyfile,
		"\tpubsub {", "\trenew_interval 1s\n\trenewal_window_ratio 0.97\n\tpubsub {",
		"tls internal", "tls {\n\t\tissuer internal {\n\t\t\tlifetime 2m\n\t\t}\n\t}"))
	token := e.Issue(harness.AllowAll("room")).Token
	open := func() (ws, wt *harness.Socket) {
		ws = e.MustOpen(harness.Handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: token})
		return ws, e.DialWebTransport(token)
	}
	sent := 0
	exchange := func(s *harness.Socket, channel string) {
		sent++
		s.Publish("paint.room", channel, fmt.Sprint(sent))
		s.ExpectDeliver("paint.room", channel, fmt.Sprint(sent), channel)
	}
	seen := map[[sha256.Size]byte]bool{harness.LeafHash(t, e.HTTPS): true}
	oldWS, oldWT := open()
	oldWS.Subscribe("paint.room", "ws")
	oldWT.Subscribe("paint.room", "wt")
	for n := range harness.SoakCount(t, 2, 80) {
		var leaf [sha256.Size]byte
		e.Poll("a new certificate", func() bool {
			exchange(oldWS, "ws")
			exchange(oldWT, "wt")
			leaf = harness.LeafHash(t, e.HTTPS)
			return !seen[leaf]
		})
		ws, wt := open()
		for _, state := range []tls.ConnectionState{
			ws.Ws().NetConn().(*tls.Conn).ConnectionState(), wt.Wt().Session.SessionState().ConnectionState.TLS,
		} {
			if seen[sha256.Sum256(state.PeerCertificates[0].Raw)] {
				t.Errorf("after renewal %d a new session with %q got an old certificate", n+1, state.NegotiatedProtocol)
			}
		}
		ws.Close()
		wt.Close()
		seen[leaf] = true
	}
	t.Logf("%d certificates, %d messages", len(seen), sent)
}
