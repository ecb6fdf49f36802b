package sdk

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/browser"
)

// Page is a page in a browser, in which clients run.
type Page struct {
	report func(Report) error
	linked chan struct{} // closed when the page is linked

	mu   sync.Mutex // of writes to link
	link *websocket.Conn
}

// StartPage starts a browser with a page; both end with the test.
func StartPage(t *testing.T, name string, report func(Report) error) (*Page, error) {
	t.Helper()
	if err := HasSDK(); err != nil {
		return nil, err
	}
	p := &Page{report: report, linked: make(chan struct{})}
	url := Serve(t, "/clients/sdk_page.js", map[string]http.Handler{
		"/sdk/": Modules(BuiltSDK), "/clients/": Modules("clients"), "/link": http.HandlerFunc(p.take),
	})
	b := browser.Start(t, name)
	b.Expected = regexp.MustCompile("^(error|warning): ") // such as a refused handshake
	b.Open("page", url, "")
	select {
	case <-p.linked:
		return p, nil
	case <-time.After(Limit):
		return nil, fmt.Errorf("the page does not run after %v", Limit)
	}
}

// Serve serves a page with a script until the test ends, and what it needs, by path. It returns
// its address on localhost, which is a secure context.
func Serve(t *testing.T, script string, handlers map[string]http.Handler) (url string) {
	mux := http.NewServeMux()
	for path, handler := range handlers {
		mux.Handle(path, http.StripPrefix(path, handler))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>SDK</title><body><script type="module" src="%s"></script>`, script)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// take takes the WebSocket of the page, and reads it to its end.
func (p *Page) take(w http.ResponseWriter, r *http.Request) {
	link, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return // the test sees that there is no link
	}
	defer link.Close()
	p.link = link
	close(p.linked)
	for {
		_, text, err := link.ReadMessage()
		if err != nil {
			return
		}
		var report Report
		if err := json.Unmarshal(text, &report); err != nil {
			report = Report{Event: "not a report: " + string(text)}
		}
		_ = p.report(report) // nobody waits for what is about nothing
	}
}

func (p *Page) Send(command Command) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.link.WriteJSON(command)
}

// Modules serves a folder.
func Modules(folder string) http.Handler { return http.FileServer(http.Dir(folder)) }
