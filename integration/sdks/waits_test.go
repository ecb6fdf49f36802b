package sdks

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// isAsBefore requires that the client has its connection and its subscription to n again.
func isAsBefore(s *stage, c *sdk.Client, sub *sdk.Sub) {
	s.T.Helper()
	c.Event("reconnected")
	c.Publish(s.Tenant, "n", "again")
	sub.Want(s.Tenant, "n", "again", "n")
	c.Never("closed", "moving")
}

// An application that knows better than to wait lets the client try at once. By itself it would
// do so in some days.
func retries(s *stage) {
	const days = 2_000_000_000 // ms, 23 days
	waits := func(r sdk.Report) bool { return r.Delay > sdk.InMS(2*sdk.Limit) }
	path, token := harness.NewBadPath(s.T, s.Edges[0]), s.issue()
	c := s.Connect(sdk.Options{Token: token.Token, MinBackOff: days, MaxBackOff: days}, path.Url())
	sub := c.Subscribe(s.Tenant, "n")
	path.Refuse()
	disconnect(s, token.TokenID)
	c.EventThat(waits, "reconnecting")
	c.Must(sdk.Command{Cmd: "retry"})
	c.EventThat(waits, "reconnecting")
	path.Heal()
	c.Must(sdk.Command{Cmd: "retry"})
	isAsBefore(s, c, sub)
	c.Must(sdk.Command{Cmd: "retry"}) // there is nothing to do
	c.Flush()
}

// An edge that says how long to wait is left alone for so long, by clients that can hear it.
func retriesAfter(s *stage) {
	var mu sync.Mutex
	var begun []time.Time // handshakes; the second is refused
	to, _ := url.Parse(s.Edges[0].HttpURL(""))
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		begun = append(begun, time.Now())
		n := len(begun)
		mu.Unlock()
		if n != 2 {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	s.T.Cleanup(server.Close)
	token := s.issue()
	c := s.Connect(sdk.Options{Token: token.Token}, server.URL)
	sub := c.Subscribe(s.Tenant, "n")
	disconnect(s, token.TokenID)
	isAsBefore(s, c, sub)
	mu.Lock()
	defer mu.Unlock()
	if pause := begun[2].Sub(begun[1]); pause < 5*time.Second && !s.Kind.Blind() {
		s.T.Errorf("%s: the client came again after %v, want the 5 s that the edge has asked for", s.Kind, pause)
	}
}

// When the only edge dies, its clients wait until it is there again.
func killedAlone(s *stage) {
	e := harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers)
	s = s.with(e)
	members := s.meet(impatient, e.HttpsURL(""))
	s.Edges[0].Kill()
	for _, m := range members {
		m.Event("disconnected")
		m.Event("reconnecting")
		m.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "n"}, "disconnected")
	}
	harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers, sdk.Again(e))
	for _, m := range members {
		if back := m.IsBack(); back.Edge != e.HttpsURL("") || back.Transport != m.Kind.Transport {
			s.T.Errorf("%s: got %v, want the edge again, by %s", m.Kind, back, m.Kind.Transport)
		}
		m.Publish(s.Tenant, "n", "again, "+m.Name)
		for string(m.sub.Next().Payload) != "again, "+m.Name {
		}
		m.Never("closed", "moved")
		m.Close() // else the edge would wait for it
	}
}
