package integration

import (
	"strings"
	"testing"
)

// presencePage is a page that is present in room.1 for as long as it is open, by its browser's
// own WebSocket.
const presencePage = `<!doctype html><title>here</title><script>
const socket = new WebSocket("ws://" + location.host + "/ws", ["llps.v1", "at." + location.hash.slice(1)])
socket.onopen = () => socket.send("JOIN:paint.a:room.1")
socket.onmessage = event => { if (event.data === "OK:JOIN:paint.a:room.1") document.title = "joined" }
</script>`

var presencePageFile = strings.Replace(withPresence("linger 10s"), "\tpubsub\n\trespond \"no such page\" 404", "\tpubsub\n\thandle /here {\n\t\theader Content-Type text/html\n\t\trespond `"+presencePage+"`\n\t}\n\trespond \"no such page\" 404", 1)

// presencePageTest reloads a page whose reader is present: others see nothing of it. When it is
// closed, she leaves.
func presencePageTest(t *testing.T, b *browser) {
	e := startEdge(t, presencePageFile)
	b.run(t, "reload", func(c *browser) {
		w := e.with(c.t).dial(e.subjectToken("", "", presenceTenant)).watching(presenceTenant)
		v := w.who("room.1", false)
		p := c.open("page", e.httpURL("/here#")+e.subjectToken("ann", "", presenceTenant), "")
		for range 3 {
			p.until(`document.title === "joined"`)
			w.untilMembers(v, "room.1 ann")
			p.reload()
		}
		p.until(`document.title === "joined"`)
		w.told(v, "+room.1 ann")
		before := v.frames
		p.evaluate(nil, `(location.href = "about:blank", 0)`)
		w.untilMembers(v)
		w.told(v, "-room.1 ann")
		if v.frames != before+1 {
			t.Errorf("%d frames", v.frames-before)
		}
	})
}
