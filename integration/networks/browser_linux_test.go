package networks

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// page is a page with the SDK, and the server that a browser has it from, on loopback in
// its own namespace. What it says goes to stdout.
type page struct {
	linked chan *websocket.Conn
	mu     sync.Mutex // of stdout
}

// runBrowser runs a browser with a page until stdin ends.
func runBrowser(kind string) error {
	p := &page{linked: make(chan *websocket.Conn, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/sdk/", http.StripPrefix("/sdk/", modules("clients/node_modules/@millrace/client/dist")))
	mux.Handle("/clients/", http.StripPrefix("/clients/", modules("clients")))
	mux.HandleFunc("/link", p.link)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>SDK</title><script type="module" src="/clients/sdk_page.js"></script>`)
	})
	server := &http.Server{Handler: mux}
	go func() { _ = server.Serve(listener) }() // ends with the process
	// localhost is a secure context, which WebTransport takes.
	url := fmt.Sprintf("http://localhost:%d/page", listener.Addr().(*net.TCPAddr).Port)
	leave, err := open(kind, url)
	if err != nil {
		return err
	}
	defer leave()
	var link *websocket.Conn
	select {
	case link = <-p.linked:
	case <-time.After(waitTimeout):
		return errors.New("the page does not run")
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := link.WriteMessage(websocket.TextMessage, lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// modules serves a folder with the type that browsers want of modules.
func modules(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		files.ServeHTTP(w, r)
	})
}

// link takes the WebSocket of the page, and passes on what it says.
func (p *page) link(w http.ResponseWriter, r *http.Request) {
	link, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer link.Close()
	p.linked <- link
	for {
		_, text, err := link.ReadMessage()
		if err != nil {
			return
		}
		p.mu.Lock()
		_, _ = os.Stdout.Write(append(text, '\n'))
		p.mu.Unlock()
	}
}

// open starts a browser that shows a page; leave ends it.
func open(kind, url string) (leave func(), err error) {
	switch kind {
	case "chromium":
		return openChromium(url)
	case "firefox":
		return openFirefox(url)
	}
	return nil, fmt.Errorf("unknown kind %s", kind)
}

// openChromium drives clients/browser.mjs.
func openChromium(url string) (leave func(), err error) {
	cmd := exec.Command("node", "clients/browser.mjs")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	leave = func() {
		_ = stdin.Close()
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
	}
	text, err := json.Marshal(map[string]string{"cmd": "open", "tab": "sdk/page", "url": url, "script": ""})
	if err == nil {
		_, err = stdin.Write(append(text, '\n'))
	}
	if err != nil {
		leave()
		return nil, err
	}
	var answer struct {
		Event string
		Value any
		Text  string
	}
	answers := json.NewDecoder(stdout)
	for err == nil && (answer.Event == "" || answer.Event == "ready") { // the browser runs
		err = answers.Decode(&answer)
	}
	if err != nil || answer.Event != "done" {
		leave()
		return nil, fmt.Errorf("Chromium does not open the page: %v %s", err, answer.Text)
	}
	return leave, nil
}
