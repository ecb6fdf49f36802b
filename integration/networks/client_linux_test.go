package networks

import (
	"encoding/binary"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/wire"
)

const channel = "numbers"

// subject is the client whose network breaks: a driver in its machine.
type subject struct {
	t       *testing.T
	kind    sdk.Kind
	machine netlab.Machine
	driver  *sdk.Driver
	ids     int

	mu   sync.Mutex
	all  []sdk.Report
	more chan struct{} // closed with the next report
}

// startSubject starts the process of a client, until end.
func (l *lab) startSubject(k sdk.Kind) *subject {
	l.Helper()
	s := &subject{t: l.T, kind: k, machine: l.network.Machine(clientMachine), more: make(chan struct{})}
	var cmd *exec.Cmd
	switch k.Where {
	case "go":
		cmd = s.machine.Command(filepath.Join(built, "sdkgo"))
	case "node":
		cmd = s.machine.Command("node", "clients/sdk_node.mjs")
	default: // the driver adds the environment of this process
		cmd = s.machine.Command("env", hostEnv+"="+k.Where, harness.BrowserRootFolder+"="+l.roots, os.Args[0], "-test.run=^TestBrowserHost$")
	}
	cmd.Dir = ".."
	var err error
	if s.driver, _, err = sdk.StartDriver(cmd, filepath.Join(l.roots, "root.crt"), limit, s.take, func(error) {}); err != nil {
		l.Fatal(err)
	}
	return s
}

func (s *subject) take(r sdk.Report) error {
	r.At = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
	close(s.more)
	s.more = make(chan struct{})
	return nil
}

// end ends the process, and all that it has started.
func (s *subject) end() {
	if err := s.driver.End(); err != nil {
		s.t.Errorf("%v: %v", s.kind, err)
	}
	_ = s.machine.Signal(9) // there may be nothing left
}

// number is that of a message.
func number(r sdk.Report) (int, bool) {
	if r.Event != "message" || len(r.Payload) < 8 {
		return 0, false
	}
	return int(binary.BigEndian.Uint64(r.Payload)), true
}

// await waits for the first report from the given one on that matches.
func (s *subject) await(from int, within time.Duration, matches func(sdk.Report) bool) (r sdk.Report, found bool) {
	over := time.NewTimer(within)
	defer over.Stop()
	for {
		s.mu.Lock()
		if i := slices.IndexFunc(s.all[from:], matches); i >= 0 {
			r := s.all[from+i]
			s.mu.Unlock()
			return r, true
		}
		from = len(s.all)
		more := s.more
		s.mu.Unlock()
		select {
		case <-more:
		case <-over.C:
			return r, false
		}
	}
}

// reports are all so far.
func (s *subject) reports() []sdk.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// must carries out a command that succeeds.
func (s *subject) must(c sdk.Command) {
	s.t.Helper()
	s.ids++
	c.ID, c.Client = s.ids, "c"
	err := s.driver.Send(c)
	r, found := s.await(0, limit, func(r sdk.Report) bool { return r.Event == "answer" && r.ID == c.ID })
	if err != nil || !found || r.Error != nil {
		s.t.Fatalf("%v: %s: %v %v; it said %v", s.kind, c.Cmd, err, r.Error, s.reports())
	}
}

// connect connects the client to edges, and subscribes.
func (s *subject) connect(l *lab, keepAlive time.Duration, edges ...*edge) {
	s.t.Helper()
	o := &sdk.Options{Token: l.token, Transports: []string{s.kind.Transport}, KeepAlive: int(keepAlive.Milliseconds())}
	if s.kind.Transport == "webtransport" {
		o.Transports = append(o.Transports, "websocket")
	}
	if s.kind.InBrowser() {
		o.Hashes = [][]byte{l.hash[:]}
	}
	c := sdk.Command{Cmd: "connect", Options: o}
	for _, e := range edges {
		c.Addresses = append(c.Addresses, e.url())
	}
	s.must(c)
	s.must(sdk.Command{Cmd: "subscribe", Sub: "s", Mode: "callback", Tenant: tenant, Pattern: channel})
}

// publisher publishes messages at an edge, over a plain WebSocket that no case breaks: it
// waits as long as the edge does.
type publisher struct {
	t    *testing.T
	conn *websocket.Conn
	quit chan struct{}

	writer, reader sync.WaitGroup

	mu   sync.Mutex
	sent []time.Time // by number
}

// publish begins to publish, until stop: numbers to one channel after the other, each followed
// by the time of day, and by so many bytes in all.
func (l *lab) publish(at *edge, every time.Duration, size int, channels ...string) *publisher {
	l.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+at.machine.IP+":8080/ws", http.Header{"Authorization": {"Bearer " + l.token}})
	if err != nil {
		l.Fatal(err)
	}
	p := &publisher{t: l.T, conn: conn, quit: make(chan struct{})}
	p.reader.Go(func() { // ends with the connection
		for {
			kind, text, err := conn.ReadMessage()
			if err != nil {
				return
			}
			if kind == websocket.TextMessage {
				l.Errorf("the publisher got %s", text)
			}
		}
	})
	p.writer.Go(func() { p.run(every, max(size, 16), channels) }) // ends with stop
	return p
}

func (p *publisher) run(every time.Duration, size int, channels []string) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		now := time.Now()
		payload := binary.BigEndian.AppendUint64(nil, uint64(n))
		payload = binary.BigEndian.AppendUint64(payload, uint64(now.UnixNano()))
		payload = append(payload, make([]byte, size-len(payload))...)
		p.mu.Lock()
		p.sent = append(p.sent, now)
		p.mu.Unlock()
		frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte(tenant), Channel: []byte(channels[n%len(channels)]), Payload: payload})
		if err := p.conn.WriteMessage(websocket.BinaryMessage, frame); err != nil {
			p.t.Errorf("publish: %v", err)
			return
		}
		select {
		case <-tick.C:
		case <-p.quit:
			return
		}
	}
}

// stop ends it, and returns when each message was sent.
func (p *publisher) stop() []time.Time {
	close(p.quit)
	p.writer.Wait() // nothing can be written after the close frame
	_ = p.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(limit))
	p.reader.Wait() // for the edge's answer, after what was written last
	_ = p.conn.Close()
	return p.sent
}

// sentAt is when a message was sent.
func (p *publisher) sentAt(number int) (at time.Time, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if number >= len(p.sent) {
		return at, false
	}
	return p.sent[number], true
}
