package networks

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/netlab"
)

// kind is where an SDK runs, and the transport that it begins with.
type kind struct{ where, transport string }

func (k kind) String() string { return k.where + "/" + k.transport }

var kinds = []kind{
	{"go", "webtransport"},
	{"go", "websocket"},
	{"node", "websocket"},
	{"chromium", "webtransport"},
	{"chromium", "websocket"},
	{"firefox", "webtransport"},
	{"firefox", "websocket"},
}

// command is one to a client, in JSON; see integration/clients/sdk_driver.mjs.
type command struct {
	ID        int      `json:"id"`
	Client    string   `json:"client"`
	Cmd       string   `json:"cmd"`
	Addresses []string `json:"addresses,omitempty"`
	Options   *options `json:"options,omitempty"`
	Sub       string   `json:"sub,omitempty"`
	Mode      string   `json:"mode,omitempty"`
	Tenant    string   `json:"tenant"`
	Pattern   string   `json:"pattern,omitempty"`
}

type options struct {
	Token      string   `json:"token"`
	Transports []string `json:"transports"`
	KeepAlive  int      `json:"keepAlive,omitempty"` // ms
	Hashes     [][]byte `json:"hashes,omitempty"`    // for browsers
}

// report is what a client says: answer, message, and the SDK's events by their names.
type report struct {
	Event     string  `json:"event"`
	Client    string  `json:"client"`
	ID        int     `json:"id,omitempty"`
	Error     *failed `json:"error,omitempty"`
	Payload   []byte  `json:"payload,omitempty"`
	Late      bool    `json:"late,omitempty"`
	Edge      string  `json:"edge,omitempty"`
	Transport string  `json:"transport,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	Away      float64 `json:"away,omitempty"` // ms

	at time.Time // when it came
}

type failed struct{ Code, Text string }

// number is that of a message.
func (r report) number() (uint64, bool) {
	if r.Event != "message" || len(r.Payload) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(r.Payload), true
}

// subject is the client whose network breaks: a process in its machine.
type subject struct {
	t       *testing.T
	kind    kind
	machine netlab.Machine
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	read    sync.WaitGroup
	dir     string // for temporary files

	mu   sync.Mutex
	all  []report
	more chan struct{} // closed with the next report
}

// startSubject starts the process of a client.
func (l *lab) startSubject(k kind) *subject {
	l.Helper()
	s := &subject{t: l.T, kind: k, machine: l.network.Machine(clientMachine), more: make(chan struct{})}
	var err error
	if s.dir, err = os.MkdirTemp("", "net"); err != nil { // a short name: Chromium has a socket there
		l.Fatal(err)
	}
	env := append(os.Environ(), "TMPDIR="+s.dir)
	if k.where == "node" {
		s.cmd = s.machine.Command("node", "clients/sdk_node.mjs")
		env = append(env, "NODE_EXTRA_CA_CERTS="+l.cert.file)
	} else {
		s.cmd = s.machine.Command(os.Args[0])
		env = append(env, hostEnv+"="+k.where, rootEnv+"="+l.cert.file)
	}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = "..", env, os.Stderr
	if s.stdin, err = s.cmd.StdinPipe(); err != nil {
		l.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		l.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		l.Fatal(err)
	}
	s.read.Go(func() { s.follow(stdout) }) // ends with the process
	return s
}

// follow takes what the client says.
func (s *subject) follow(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		r := report{at: time.Now()}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			s.t.Errorf("%v says %q", s.kind, lines.Text())
			continue
		}
		s.mu.Lock()
		s.all = append(s.all, r)
		close(s.more)
		s.more = make(chan struct{})
		s.mu.Unlock()
	}
}

// end ends the process, and all that it has started.
func (s *subject) end() {
	_ = s.stdin.Close() // by which it ends by itself
	kill := time.AfterFunc(10*time.Second, func() { _ = s.machine.Signal(9) })
	s.read.Wait()
	_ = s.cmd.Wait() // it may have been killed
	kill.Stop()
	_ = s.machine.Signal(9)
	_ = os.RemoveAll(s.dir) // what is killed now may still write there
}

// errNothing: what was waited for did not come.
var errNothing = errors.New("it did not come")

// await waits for the first report from the given one on that matches.
func (s *subject) await(from int, within time.Duration, matches func(report) bool) (report, error) {
	over := time.NewTimer(within)
	defer over.Stop()
	for {
		s.mu.Lock()
		i := slices.IndexFunc(s.all[from:], matches)
		if i >= 0 {
			r := s.all[from+i]
			s.mu.Unlock()
			return r, nil
		}
		from = len(s.all)
		more := s.more
		s.mu.Unlock()
		select {
		case <-more:
		case <-over.C:
			return report{}, errNothing
		}
	}
}

// reports are all so far.
func (s *subject) reports() []report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

// must carries out a command that succeeds.
func (s *subject) must(c command) {
	s.t.Helper()
	from := len(s.reports())
	c.ID, c.Client = from+1, "c"
	line, err := json.Marshal(c)
	if err == nil {
		_, err = s.stdin.Write(append(line, '\n'))
	}
	if err != nil {
		s.t.Fatalf("%v: %v", s.kind, err)
	}
	r, err := s.await(from, waitTimeout, func(r report) bool { return r.Event == "answer" && r.ID == c.ID })
	if err != nil || r.Error != nil {
		s.t.Fatalf("%v: %s: %v %v; it said %v", s.kind, c.Cmd, err, r.Error, s.reports())
	}
}

// connect connects the client to edges, and subscribes.
func (s *subject) connect(l *lab, keepAlive time.Duration, edges ...*edge) {
	s.t.Helper()
	o := &options{Token: l.token, Transports: []string{s.kind.transport}, KeepAlive: int(keepAlive.Milliseconds())}
	if s.kind.transport == "webtransport" {
		o.Transports = append(o.Transports, "websocket")
	}
	if s.kind.where == "chromium" || s.kind.where == "firefox" {
		o.Hashes = [][]byte{l.cert.hash[:]}
	}
	c := command{Cmd: "connect", Options: o}
	for _, e := range edges {
		c.Addresses = append(c.Addresses, e.url())
	}
	s.must(c)
	s.must(command{Cmd: "subscribe", Sub: "s", Mode: "callback", Tenant: tenant, Pattern: channel})
}
