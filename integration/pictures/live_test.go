package pictures

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// The page is 960 pixels wide, and drawn larger, to be sharp where the picture is 800 pixels wide.
const (
	width = 960
	scale = 1.5
)

// pointer draws an arrow where the mouse is, which is in no picture of the window otherwise.
const pointer = `addEventListener("DOMContentLoaded", () => {
	document.documentElement.style.zoom = 1.5;
	const svg = "http://www.w3.org/2000/svg";
	const arrow = document.createElementNS(svg, "svg");
	const path = arrow.appendChild(document.createElementNS(svg, "path"));
	path.setAttribute("d", "M1 1v16l4-4 3 7 3-1-3-7h6z");
	path.style.cssText = "fill: #111; stroke: #fff; stroke-width: 1.2";
	arrow.style.cssText = "position: fixed; width: 20px; height: 22px; display: none; pointer-events: none";
	document.body.append(arrow);
	addEventListener("mousemove", (event) => {
		arrow.style.display = "block";
		arrow.style.left = event.clientX / 1.5 + "px";
		arrow.style.top = event.clientY / 1.5 + "px";
	});
})`

// TestLive films the page of `pubsub dev`: ben loses the network, ada goes on, and ben gets what he missed.
func TestLive(t *testing.T) {
	t.Parallel()
	frames := filepath.Join(folder(t), "live")
	must(t, os.MkdirAll(frames, 0o700))
	d := harness.NewDevEdge(t)
	d.Start(t)
	p := browser.Start(t, "chromium").Open("live", fmt.Sprintf("http://localhost:%d/", d.Ports[1]), pointer)
	p.Window(width*scale, 700*scale, "light")
	p.Reload()
	p.See("#speed", "Both clients were live ")
	p.See("#ada .here", "here: ada, ben")
	p.See("#ben .here", "here: ada, ben")
	// A round trip while the page loads takes longer than others.
	p.Until(`[...document.querySelectorAll(".facts")].every((e) => e.textContent && parseFloat(e.textContent.split(",")[1]) < 10)`)
	var bottom float64 // of the clients
	p.Evaluate(&bottom, `document.getElementById("clients").getBoundingClientRect().bottom`)
	p.Window(width*scale, int(bottom)+16*scale, "light")

	f := &film{page: p, folder: frames}
	f.show(900)
	f.say("ada", "Are you on your way?", 900)
	f.say("ben", "Yes, by train.", 900)
	f.pointAt("#ben .switch")
	p.Click("switch", "Network of ben")
	p.See("#ben .state", "no network")
	f.show(1100)
	p.See("#ada .log .own", "While ben is away: 1")
	f.show(700)
	f.say("ada", "I got us a table.", 900)
	p.See("#ada .log .own", "While ben is away: 2")
	f.show(800)
	p.Click("switch", "Network of ben")
	p.See("#ben .log .note", "Missed: 0, caught up: ")
	p.See("#ben .state", "live")
	f.show(3500)
	f.end()
}

// say types a message and sends it. Where there is a network, the other one sees it grow, and gets it.
func (f *film) say(name, text string, ms int) {
	p, away := f.page, false
	other := map[string]string{"ada": "ben", "ben": "ada"}[name]
	p.Evaluate(&away, "document.getElementById(%s).dataset.state === 'cut'", other)
	for end := 2; end < len(text)+3; end += 3 {
		typed := text[:min(end, len(text))]
		p.Fill("Message of "+name, typed)
		if !away {
			p.Until("document.querySelector(%s).textContent === %s", "#"+other+" .draft", name+" is typing: "+typed)
		}
		f.show(110)
	}
	p.Press("Enter")
	p.See("#"+name+" .log .own", text)
	if !away {
		p.See("#"+other+" .log .theirs", text)
	}
	f.show(ms)
}

// pointAt moves the pointer to the middle of an element.
func (f *film) pointAt(selector string) {
	var to [2]float64 // parts of the window
	f.page.Evaluate(&to, `(() => {
		const { x, y, width, height } = document.querySelector(%s).getBoundingClientRect();
		return [(x + width / 2) / innerWidth, (y + height / 2) / innerHeight];
	})()`, selector)
	const steps = 4
	for i := range steps {
		part := float64(i+1) / steps
		f.page.Act("move", harness.Object{"x": 0.5 + (to[0]-0.5)*part, "y": 0.5 + (to[1]-0.5)*part})
		f.show(90)
	}
}
