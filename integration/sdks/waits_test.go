package sdks

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// isAsBefore requires that a client has its connection, and the flow to itself, again.
func isAsBefore(f *flow) {
	f.C.T.Helper()
	f.C.Event("reconnected")
	f.say()
	f.want(0)
	f.C.Never("closed", "moving")
}

// An application that knows better than to wait lets the client try at once. By itself it would
// do so in some days.
func retries(s *stage) {
	const days = 2_000_000_000 // ms, 23 days
	path, token := harness.NewBadPath(s.T, s.Edges[0]), s.Token()
	c := s.Connect(sdk.Options{Token: token, MinBackOff: days, MaxBackOff: days}, path.Url())
	f := s.flow(c, c)
	path.Refuse()
	s.disconnect(token)
	c.EventThat(func(r sdk.Report) bool { return r.Delay > sdk.InMS(2*sdk.Limit) }, "reconnecting")
	path.Heal()
	c.Must(sdk.Command{Cmd: "retry"})
	isAsBefore(f)
}

// An edge that says how long to wait is left alone for so long, by clients that can hear it.
func retriesAfter(s *stage) {
	begun := make(chan time.Time, 100) // handshakes; the second is refused
	to, _ := url.Parse(s.Edges[0].HttpURL(""))
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if begun <- time.Now(); len(begun) != 2 {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	s.T.Cleanup(server.Close)
	token := s.Token()
	c := s.Connect(sdk.Options{Token: token}, server.URL)
	f := s.flow(c, c)
	s.disconnect(token)
	isAsBefore(f)
	<-begun
	if refused := <-begun; (<-begun).Sub(refused) < 5*time.Second && !s.Kind.Blind() {
		s.T.Errorf("%s: the client came again before the 5 s that the edge has asked for", s.Kind)
	}
}

// When the only edge dies, its clients wait until it is there again.
func killedAlone(s *stage) {
	e := harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers)
	s = s.with(e)
	c := s.Connect(sdk.Options{KeepAlive: 2000, MaxBackOff: 500})
	f := s.flow(c, c)
	s.Edges[0].Kill()
	c.Event("disconnected")
	c.Event("reconnecting")
	c.Refused(sdk.Command{Cmd: "publish", Tenant: s.Tenant, Channel: "n"}, "disconnected")
	harness.StartEdge(s.T, harness.PatientCaddyfile, harness.ForBrowsers, sdk.Again(e))
	isAsBefore(f)
	c.Close() // else the edge would wait for it
}
