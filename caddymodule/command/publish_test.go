package command

import (
	"fmt"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// What the edge says of a message is the command's error; if it says nothing, there is none.
func TestPublish(t *testing.T) {
	for name, tt := range map[string]struct {
		edge func(*fakeConn)
		code int
		want string
	}{
		"taken": {(*fakeConn).expectLeave, 0, ""},
		"refused": {func(c *fakeConn) {
			c.sendLine("ERR:permission_denied:PUB:demo:a")
			c.expectLeave()
		}, 1, "Error: ERR:permission_denied:PUB:demo:a"},
		"too large": {func(c *fakeConn) {
			_ = c.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(int(wire.CloseTooBig), ""))
		}, 1, "closed the connection: 1009"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEdge(t)
			t.Setenv(tokenVariable, testAccess)
			done := make(chan result, 1)
			go func() {
				done <- run(t.Context(), "a\x00b", "publish", "--url", f.url, "--tenant", "demo", "--delivery", "one-random", "a", "-")
			}()
			c := f.accept()
			_, frame, err := c.ReadMessage()
			if p, wrong := wire.DecodePublish(frame); err != nil || wrong != nil || p.Delivery != wire.OneRandom || string(p.Payload) != "a\x00b" {
				t.Fatalf("got %+v, %v, %v", p, err, wrong)
			}
			tt.edge(c)
			await(t, done).want(t, tt.code, "", tt.want)
		})
	}
	t.Run("confirmed to nobody", func(t *testing.T) {
		f := newFakeEdge(t)
		t.Setenv(tokenVariable, testAccess)
		done := make(chan result, 1)
		go func() {
			done <- run(t.Context(), "", "publish", "--url", f.url, "--tenant", "demo", "--delivery", "one-random", "--confirm", "a", "x")
		}()
		c := f.accept()
		c.sendLine("FEATURES:link,work_queue")
		_, frame, err := c.ReadMessage()
		p, wrong := wire.DecodePublish(frame)
		if err != nil || wrong != nil || !p.Confirm {
			t.Fatalf("got %+v, %v, %v", p, err, wrong)
		}
		c.sendLine(fmt.Sprintf("ERR:no_subscriber:PUB:%d", p.ID))
		c.expectLeave()
		await(t, done).want(t, 1, "", "no_subscriber", "nobody has got the message")
	})
	t.Setenv(tokenVariable, testAccess[:len(testAccess)-1]+"0")
	if r := run(t.Context(), "", "publish", "--url", newFakeEdge(t).url, "a", "x"); r.code != 1 {
		t.Errorf("with another token: %+v", r)
	}
}
