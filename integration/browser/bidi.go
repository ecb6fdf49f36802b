package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
)

// bidi is a client of WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/): commands
// and their answers over one WebSocket, and events between them. Its methods may be
// called from any goroutine.
type bidi struct {
	conn   *websocket.Conn
	event  func(method string, params json.RawMessage) // called by the reader: it must not wait
	closed chan struct{}                               // when nothing more arrives; after err is set
	err    error

	mu      sync.Mutex // guards what follows, and writing
	ids     int
	answers map[int]chan bidiAnswer
}

// A bidiAnswer is the answer to a command: its result, or an error.
type bidiAnswer struct {
	Type, Method   string
	ID             int
	Result, Params json.RawMessage
	Error, Message string
}

// dialBiDi connects to the address that a browser has written, and opens a session.
// The caller closes it.
func dialBiDi(address string, event func(method string, params json.RawMessage)) (*bidi, error) {
	dialer := websocket.Dialer{HandshakeTimeout: harness.WaitTimeout}
	conn, response, err := dialer.Dial(address+"/session", http.Header{})
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	b := &bidi{conn: conn, event: event, closed: make(chan struct{}), answers: map[int]chan bidiAnswer{}}
	go b.Read() // ends with the connection, which close closes and waits for
	// The answer comes when the browser has started, which takes long beside many others.
	if err := b.within(2*harness.WaitTimeout, nil, "session.new", harness.Object{"capabilities": harness.Object{}}); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *bidi) Close() {
	b.conn.Close()
	<-b.closed
}

func (b *bidi) Read() {
	defer close(b.closed)
	for {
		var answer bidiAnswer
		if b.err = b.conn.ReadJSON(&answer); b.err != nil {
			return
		}
		if answer.Type == "event" {
			b.event(answer.Method, answer.Params)
			continue
		}
		b.mu.Lock()
		waiting := b.answers[answer.ID]
		delete(b.answers, answer.ID)
		b.mu.Unlock()
		if waiting != nil { // else the caller has given up
			waiting <- answer
		}
	}
}

// Do sends a command, and decodes its result into into, unless that is nil.
func (b *bidi) Do(into any, method string, params harness.Object) error {
	return b.within(harness.WaitTimeout, into, method, params)
}

func (b *bidi) within(limit time.Duration, into any, method string, params harness.Object) error {
	waiting := make(chan bidiAnswer, 1)
	b.mu.Lock()
	b.ids++
	id := b.ids
	b.answers[id] = waiting
	err := b.conn.WriteJSON(harness.Object{"id": id, "method": method, "params": params})
	b.mu.Unlock()
	if err != nil {
		return err
	}
	timeout := time.NewTimer(limit)
	defer timeout.Stop()
	select {
	case answer := <-waiting:
		if answer.Type == "error" {
			return fmt.Errorf("%s: %s: %s", method, answer.Error, answer.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(answer.Result, into)
	case <-b.closed:
		return fmt.Errorf("%s: %w", method, b.err)
	case <-timeout.C:
		b.mu.Lock()
		delete(b.answers, id)
		b.mu.Unlock()
		return fmt.Errorf("%s: no answer in %v", method, limit)
	}
}
