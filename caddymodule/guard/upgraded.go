package guard

import "net/http"

// upgradeWriter is beneath Caddy's writers in a request that may be upgraded. A
// connection that is hijacked writes its own answer, and the access log would show the
// status 0: so Caddy's writers are told the status 101, and this writer drops it.
type upgradeWriter struct {
	http.ResponseWriter
	upgraded bool // by one of our handlers
}

// WriteHeader implements [http.ResponseWriter].
func (w *upgradeWriter) WriteHeader(status int) {
	if !w.upgraded {
		w.ResponseWriter.WriteHeader(status)
	}
}

// Unwrap is for [http.ResponseController].
func (w *upgradeWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// MarkUpgraded tells Caddy's writers that the connection of w was upgraded.
func MarkUpgraded(w http.ResponseWriter) {
	for inner := w; ; {
		if ours, ok := inner.(*upgradeWriter); ok {
			ours.upgraded = true
			w.WriteHeader(http.StatusSwitchingProtocols)
			return
		}
		wrapper, ok := inner.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return // there is no guard in front: writing a status now would be an error
		}
		inner = wrapper.Unwrap()
	}
}
