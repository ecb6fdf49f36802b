package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// sdkBrowser is a page in a browser for the clients of all tests below one, and the
// server of the page.
type sdkBrowser struct {
	linked chan struct{} // closed when the page is linked
	gone   chan struct{} // closed when that has ended

	mu      sync.Mutex
	link    *websocket.Conn // of which one goroutine may write
	reports map[string]func(sdkReport)
}

// startSDKBrowsers starts one in each browser of sdkKinds, by its name; they end with the
// test.
func startSDKBrowsers(t *testing.T) map[string]*sdkBrowser {
	t.Helper()
	all := map[string]*sdkBrowser{}
	for _, kind := range browsers {
		if !slices.ContainsFunc(sdkKinds, func(k sdkKind) bool { return k.where == kind.name }) {
			continue
		}
		if err := hasSDK(); err != nil {
			t.Fatal(err)
		}
		all[kind.name] = startSDKBrowser(t, &browser{t: t, name: kind.name, driver: kind.start(t), context: "sdk"})
	}
	return all
}

func startSDKBrowser(t *testing.T, c *browser) *sdkBrowser {
	t.Helper()
	b := &sdkBrowser{linked: make(chan struct{}), gone: make(chan struct{}), reports: map[string]func(sdkReport){}}
	mux := http.NewServeMux()
	mux.Handle("/sdk/", http.StripPrefix("/sdk/", modules(builtSDK)))
	mux.Handle("/clients/", http.StripPrefix("/clients/", modules("clients")))
	mux.HandleFunc("/link", b.take)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>SDK</title><script type="module" src="/clients/sdk_page.js"></script>`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	// localhost is a secure context, whatever the server calls itself.
	c.open("page", strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/page", "")
	select {
	case <-b.linked:
	case <-time.After(waitTimeout):
		t.Fatal("the page does not run")
	}
	t.Cleanup(func() {
		list, _ := c.do(object{"cmd": "complaints", "context": c.context}).([]any)
		for _, complaint := range list { // refused handshakes are complaints, too
			if text := fmt.Sprint(complaint); strings.HasPrefix(text, "uncaught") {
				t.Errorf("the browser complains: %s", text)
			}
		}
		c.do(object{"cmd": "close", "context": c.context})
		<-b.gone
	})
	return b
}

// modules serves a folder with the type that browsers want of modules.
func modules(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		files.ServeHTTP(w, r)
	})
}

// take takes the WebSocket of the page, and reads it to its end.
func (b *sdkBrowser) take(w http.ResponseWriter, r *http.Request) {
	link, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // which the test sees, as there is no link
	}
	defer link.Close()
	defer close(b.gone)
	b.link = link
	close(b.linked)
	for {
		_, text, err := link.ReadMessage()
		if err != nil {
			return
		}
		var r sdkReport
		if err := json.Unmarshal(text, &r); err != nil {
			r = sdkReport{Event: "not a report: " + string(text)}
		}
		b.mu.Lock()
		report := b.reports[r.Client]
		b.mu.Unlock()
		if report != nil { // else its test has ended
			report(r)
		}
	}
}

// sdkTab is the part of a page that one test uses.
type sdkTab struct {
	*sdkBrowser
	report func(sdkReport)
	names  []string // of clients
}

// tab is a part of the page whose clients end with the test.
func (b *sdkBrowser) tab(t *testing.T, report func(sdkReport)) sdkHost {
	tab := &sdkTab{sdkBrowser: b, report: report}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, name := range tab.names {
			delete(b.reports, name)
			_ = b.link.WriteJSON(sdkCommand{Client: name, Cmd: "close"}) // else the page is gone
		}
	})
	return tab
}

func (tab *sdkTab) send(command sdkCommand) error {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	if tab.reports[command.Client] == nil {
		tab.reports[command.Client] = tab.report
		tab.names = append(tab.names, command.Client)
	}
	return tab.link.WriteJSON(command)
}
