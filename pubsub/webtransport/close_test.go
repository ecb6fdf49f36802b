package webtransport

import (
	"testing"

	"github.com/millrace/millrace/wire"
)

// A client that ends its half of the main stream behind the edge's FIN gets the code
// at once; another one has time to read.
func TestAnswerToFIN(t *testing.T) {
	for name, answer := range map[string]func(*far){
		"FIN":                 func(f *far) { f.finish() },
		"reset":               func(f *far) { f.writer.CancelWrite(0) },
		"FIN behind messages": func(f *far) { f.write(wire.AppendMessage(nil, []byte("PING"))); f.finish() },
	} {
		run(t, name, setup{}, func(t *testing.T, e *edge) {
			quick, slow := e.connect("/serve"), e.connect("/serve")
			for _, c := range []*client{quick, slow} {
				c.subscribe("#")
			}
			e.hub.TokenRevoked("a")
			for _, c := range []*client{quick, slow} {
				c.expect("ERR:token_revoked", "FIN")
			}
			answer(quick.main)
			quick.expectEnd(wire.CloseForbidden)
			if slow.Context().Err() != nil {
				t.Error("the client that says nothing ended before")
			}
			slow.expectEnd(wire.CloseForbidden)
		})
	}
}

func TestAnswerToRefusal(t *testing.T) {
	inBubble(t, setup{}, func(t *testing.T, e *edge) {
		quick, slow := e.connect("/await"), e.connect("/await")
		for _, c := range []*client{slow, quick} {
			c.send("AUTH:bad")
			c.expect("ERR:forbidden:region", "FIN")
		}
		quick.main.finish()
		quick.expectEnd(wire.CloseForbidden)
		if slow.Context().Err() != nil {
			t.Error("the client that says nothing ended before")
		}
		slow.expectEnd(wire.CloseForbidden)
	})
}
