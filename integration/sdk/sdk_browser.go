package sdk

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
)

// Browser is a page in a browser for the clients of all tests below one, and the
// server of the page.
type Browser struct {
	Linked chan struct{} // closed when the page is linked
	Gone   chan struct{} // closed when that has ended

	mu      sync.Mutex
	link    *websocket.Conn // of which one goroutine may write
	Reports map[string]func(Report)
}

// Take takes the WebSocket of the page, and reads it to its end.
func (b *Browser) Take(w http.ResponseWriter, r *http.Request) {
	link, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // which the test sees, as there is no link
	}
	defer link.Close()
	defer close(b.Gone)
	b.link = link
	close(b.Linked)
	for {
		_, text, err := link.ReadMessage()
		if err != nil {
			return
		}
		var r Report
		if err := json.Unmarshal(text, &r); err != nil {
			r = Report{Event: "not a report: " + string(text)}
		}
		b.mu.Lock()
		report := b.Reports[r.Client]
		b.mu.Unlock()
		if report != nil { // else its test has ended
			report(r)
		}
	}
}

// sdkTab is the part of a page that one test uses.
type sdkTab struct {
	*Browser
	report func(Report)
	names  []string // of clients
}

// tab is a part of the page whose clients end with the test.
func (b *Browser) tab(t *testing.T, report func(Report)) sdkHost {
	tab := &sdkTab{Browser: b, report: report}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, name := range tab.names {
			delete(b.Reports, name)
			_ = b.link.WriteJSON(Command{Client: name, Cmd: "close"}) // else the page is gone
		}
	})
	return tab
}

func (tab *sdkTab) Send(command Command) error {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if tab.Reports[command.Client] == nil {
		tab.Reports[command.Client] = tab.report
		tab.names = append(tab.names, command.Client)
	}
	return tab.link.WriteJSON(command)
}
