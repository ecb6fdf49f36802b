package webtransport

import (
	"testing"

	"github.com/millrace/millrace/wire"
)

// A client that ends its half of the main stream behind the edge's FIN gets the code
// at once; another one has time to read.
func TestAnswerToFIN(t *testing.T) {
	finish := func(f *far) { f.finish() }
	finishLater := func(f *far) {
		f.write(wire.AppendMessage(nil, []byte("PING")))
		f.finish()
	}
	for name, c := range map[string]struct {
		path, line string
		answer     func(*far)
	}{
		"FIN":                 {"/serve", "ERR:token_revoked", finish},
		"reset":               {"/serve", "ERR:token_revoked", func(f *far) { f.writer.CancelWrite(0) }},
		"FIN behind messages": {"/serve", "ERR:token_revoked", finishLater},
		"FIN of the refused":  {"/await", "ERR:forbidden:region", finish},
	} {
		run(t, name, setup{}, func(t *testing.T, e *edge) {
			quick, slow := e.connect(c.path), e.connect(c.path)
			for _, one := range []*client{slow, quick} {
				if c.path == "/serve" {
					one.subscribe("#")
				} else {
					one.send("AUTH:bad")
				}
			}
			e.hub.TokenRevoked("a")
			slow.expect(c.line, "FIN")
			quick.expect(c.line, "FIN")
			c.answer(quick.main)
			quick.expectEnd(wire.CloseForbidden)
			if slow.Context().Err() != nil {
				t.Error("the client that says nothing ended before")
			}
			slow.expectEnd(wire.CloseForbidden)
		})
	}
}
