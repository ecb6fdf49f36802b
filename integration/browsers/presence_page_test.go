package browsers

import (
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

var presencePageFile = strings.Replace(harness.WithPresence("linger 10s"), "\tpubsub\n\trespond \"no such page\" 404", "\tpubsub\n\thandle /here {\n\t\theader Content-Type text/html\n\t\trespond `"+harness.PresencePage+"`\n\t}\n\trespond \"no such page\" 404", 1)

// presencePageTest reloads a page whose reader is present: others see nothing of it. When it is
// closed, she leaves.
func presencePageTest(t *testing.T, b *browser.Browser) {
	e := harness.StartEdge(t, presencePageFile)
	b.Run(t, "reload", func(c *browser.Browser) {
		w := e.With(c.T).Dial(e.SubjectToken("", "", harness.PresenceTenant)).Watching(harness.PresenceTenant)
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
			t.Errorf("%d frames", v.Frames-before)
		}
	})
}
