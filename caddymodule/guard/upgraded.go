package guard

import "net/http"

// upgradeWriter is beneath Caddy's writers in a request that may be upgraded. A
// connection that is hijacked writes its own answer, and the access log would show the
// status 0: so Caddy's writers are told a status, and this writer drops it.
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

// MarkUpgraded tells Caddy's writers that the connection of w was upgraded, and the status that the access log
// shows: 101, or that of the refusal that the connection brings.
func MarkUpgraded(w http.ResponseWriter, status int) {
	for inner := w; ; {
		if ours, ok := inner.(*upgradeWriter); ok {
			ours.upgraded = true
			w.WriteHeader(status)
			return
		}
		wrapper, ok := inner.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return // there is no guard in front: writing a status now would be an error
		}
		inner = wrapper.Unwrap()
	}
}
