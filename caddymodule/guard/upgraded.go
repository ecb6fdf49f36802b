package guard

import "net/http"

// upgradeWriter is beneath Caddy's writers in a request that may be upgraded. A
// connection that is taken over answers for itself, and the access log would have
// the status 0: so they are told of 101, and here it ends.
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

// TellUpgraded tells Caddy's writers that the connection of w was upgraded.
func TellUpgraded(w http.ResponseWriter) {
	for inner := w; ; {
		if ours, ok := inner.(*upgradeWriter); ok {
			ours.upgraded = true
			w.WriteHeader(http.StatusSwitchingProtocols)
			return
		}
		wrapper, ok := inner.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return // no guard is in front: to write now would be a fault
		}
		inner = wrapper.Unwrap()
	}
}
