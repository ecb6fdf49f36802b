package browsers

import (
	"strings"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// presencePage is present in room.1 for as long as it is open, by the browser's own WebSocket.
const presencePage = `<!doctype html><title>here</title><script>
const socket = new WebSocket("ws://" + location.host + "/ws", ["llps.v1", "at." + location.hash.slice(1)])
socket.onopen = () => socket.send("JOIN:paint.a:room.1")
socket.onmessage = event => { if (event.data === "OK:JOIN:paint.a:room.1") document.title = "joined" }
</script>`

// presencePageTest reloads a page whose reader is present: others see nothing of it. When it is
// closed, she leaves.
func presencePageTest(c *browser.Browser) {
	e := harness.StartEdge(c.T, strings.Replace(harness.WithPresence("linger 10s"), "\tpubsub\n\trespond \"no such page\" 404",
		"\tpubsub\n\thandle /here {\n\t\theader Content-Type text/html\n\t\trespond `"+presencePage+"`\n\t}\n\trespond \"no such page\" 404", 1))
	w := e.Dial(e.SubjectToken("", "", harness.PresenceTenant)).Watching(harness.PresenceTenant)
	v := w.Who("room.1", false)
	p := c.Open("page", e.HttpURL("/here#")+e.SubjectToken("ann", "", harness.PresenceTenant), "")
	for range 3 {
		p.Until(`document.title === "joined"`)
		w.UntilMembers(v, "room.1 ann")
		p.Reload()
	}
	p.Until(`document.title === "joined"`)
	w.Told(v, "+room.1 ann")
	before := v.Frames
	p.Evaluate(nil, `(location.href = "about:blank", 0)`)
	w.UntilMembers(v)
	w.Told(v, "-room.1 ann")
	if v.Frames != before+1 {
		c.T.Errorf("%d frames", v.Frames-before)
	}
}
