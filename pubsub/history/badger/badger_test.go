package badger

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/pubsub/history/historytest"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

// killDirEnv turns the test binary into a process that stores messages in the folder that
// it names until it is killed.
const killDirEnv = "HISTORY_KILL_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDirEnv); dir != "" {
		storeUntilKilled(dir)
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/golang/glog.(*fileSink).flushDaemon"))
}

func open(t *testing.T, c Config) *Store {
	t.Helper()
	s, err := Open(c)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	for name, c := range map[string]Config{"cached": {Cache: DefaultCache, Reserve: 1}, "uncached": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			historytest.Run(t, func(t *testing.T) history.Store {
				c.Dir = t.TempDir()
				return open(t, c)
			})
		})
	}
}

func put(t *testing.T, s *Store, m history.Message) history.Result {
	t.Helper()
	results := make(chan history.Result, 1)
	if m.History = "h"; m.Tenant == "" {
		m.Tenant = "t"
	}
	m.Stored = func(_ *history.Message, r history.Result) { results <- r }
	s.Append(&m)
	r := <-results
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	return r
}

func page(t *testing.T, s *Store, text string, after uint64) history.Page {
	t.Helper()
	return readPage(t, s, "t", text, after)
}

func readPage(t *testing.T, s *Store, tenant, text string, after uint64) history.Page {
	t.Helper()
	p, err := pattern.Parse(text)
	must(t, err)
	got, err := s.Read(context.Background(), history.Query{History: "h", Tenant: tenant, Pattern: p, After: after, MaxMessages: 100_000, MaxBytes: 1 << 30})
	must(t, err)
	return got
}

func payloads(p history.Page) string {
	var list []string
	for _, m := range p.Messages {
		list = append(list, string(m.Payload))
	}
	return strings.Join(list, " ")
}

func define(t *testing.T, s *Store, change func(*history.Limits)) {
	t.Helper()
	l := history.DefaultLimits()
	if change != nil {
		change(&l)
	}
	must(t, s.Define(history.Definition{Name: "h", Limits: l}))
}

// What was stored, removed and remembered is so after a new start, too.
func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	define(t, s, func(l *history.Limits) { l.Messages = 3 })
	var at []wire.Position
	for i := range 6 {
		at = append(at, put(t, s, history.Message{Channel: []byte("a"), Payload: fmt.Append(nil, i), Key: fmt.Append(nil, i)}).Position)
	}
	at = append(at, put(t, s, history.Message{Channel: []byte("b"), Payload: []byte("b")}).Position)
	must(t, errorOf(s.Purge("h", "t", "b")))
	for round := range 3 {
		must(t, s.Close())
		s = open(t, Config{Dir: dir})
		if list, err := s.Usage(); err != nil || len(list) != 1 || list[0].Messages != 3 {
			t.Errorf("before it is defined again: %+v, %v", list, err)
		}
		define(t, s, func(l *history.Limits) { l.Messages = 3 })
		if got := payloads(page(t, s, "#", 0)); got != "3 4 5" {
			t.Errorf("round %d: got %q", round, got)
		}
		if head, err := s.Head("h", "t"); err != nil || head != at[6] {
			t.Errorf("round %d: the head is %v, %v; it was %v", round, head, err, at[6])
		}
		for i, p := range at {
			if known, err := s.Knows("h", "t", p); err != nil || !known {
				t.Errorf("round %d: position %d is known: %v, %v", round, i, known, err)
			}
		}
		if p := page(t, s, "a", at[1].N); p.Removed.N <= at[1].N {
			t.Errorf("round %d: no loss behind %v: removed up to %v", round, at[1], p.Removed)
		}
		if p := page(t, s, "a", at[2].N); p.Removed.N > at[6].N || p.Removed.N <= at[2].N {
			t.Errorf("round %d: the purge of another channel, the cautious floor: %v", round, p.Removed)
		}
		if r := put(t, s, history.Message{Channel: []byte("a"), Payload: []byte("again"), Key: []byte("0")}); !r.Repeated || r.Position != at[0] {
			t.Errorf("round %d: a key of a message that is gone: %+v", round, r)
		}
	}
	if r := put(t, s, history.Message{Channel: []byte("a"), Payload: []byte("new")}); r.Position.N != at[6].N+1 || r.Position.Epoch != at[6].Epoch {
		t.Errorf("%v follows %v", r.Position, at[6])
	}
}

// After an end that may have lost messages, numbers skip ahead, and who stands before the
// skip, or in it, is notified of a gap.
func TestPowerLoss(t *testing.T) {
	boots := bootID
	t.Cleanup(func() { bootID = boots })
	for _, c := range []struct {
		name                string
		sync, closed, reset bool
		want                bool
	}{
		{"power loss", false, false, true, true},
		{"killed", false, false, false, false},
		{"closed", false, true, true, false},
		{"power loss with sync", true, false, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bootID = func() string { return "one" }
			dir := t.TempDir()
			s := open(t, Config{Dir: dir, Sync: c.sync})
			define(t, s, nil)
			first := put(t, s, history.Message{Channel: []byte("a"), Payload: []byte("1")}).Position
			last := put(t, s, history.Message{Channel: []byte("a"), Payload: []byte("2")}).Position
			copied := dir
			if c.closed {
				must(t, s.Close())
			} else {
				copied = copyStore(t, dir) // as the files are now
			}
			if c.reset {
				bootID = func() string { return "two" }
			}
			for range 2 { // and it stays so
				s = open(t, Config{Dir: copied, Sync: c.sync})
				define(t, s, nil)
				if got := payloads(page(t, s, "#", 0)); got != "1 2" {
					t.Errorf("got %q", got)
				}
				for _, p := range []wire.Position{first, last} {
					if known, err := s.Knows("h", "t", p); !known || err != nil {
						t.Errorf("%v: %v, %v", p, known, err)
					}
				}
				equal(t, "who has all gets a loss", page(t, s, "#", last.N).Removed.N > last.N, c.want)
				if head, err := s.Head("h", "t"); err != nil || (head.N > last.N) != c.want {
					t.Errorf("the head is %v, %v", head, err)
				}
				must(t, s.Close())
			}
		})
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	open(t, Config{Dir: dir})
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
}

// With less room than the reserve, and with more in the queue than it holds, messages are
// refused, and it is certain that they are not stored.
func TestRefused(t *testing.T) {
	s := open(t, Config{Dir: t.TempDir(), Reserve: 1 << 60})
	define(t, s, nil)
	results := make(chan history.Result, 1)
	m := history.Message{History: "h", Tenant: "t", Channel: []byte("a"), Stored: func(_ *history.Message, r history.Result) { results <- r }}
	s.Append(&m)
	if r := <-results; !errors.Is(r.Err, history.ErrUnavailable) || errors.Is(r.Err, history.ErrUnconfirmed) {
		t.Errorf("without room: %v", r.Err)
	}
	if err := s.Usable(); err == nil || !strings.Contains(err.Error(), "less than the reserve") {
		t.Errorf("usable: %v", err)
	}
	equal(t, "stored", payloads(page(t, s, "#", 0)), "")

	s = open(t, Config{Dir: t.TempDir()})
	define(t, s, nil)
	s.commit.Lock() // the committer waits
	equal(t, "the queue takes messages", s.queue.messages.Most, maxQueued)
	s.queue.messages.Most = 100 // all that it takes is stored below
	var mu sync.Mutex
	refused, answered := 0, sync.WaitGroup{}
	for range 100 + maxBatch + 10 {
		answered.Add(1)
		s.Append(&history.Message{History: "h", Tenant: "t", Channel: []byte("a"), Stored: func(_ *history.Message, r history.Result) {
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(r.Err, history.ErrUnavailable) && strings.Contains(r.Err.Error(), "waits to be stored") {
				refused++
			}
			answered.Done()
		}})
	}
	s.commit.Unlock()
	answered.Wait()
	if refused == 0 {
		t.Error("the queue has no end")
	}
}

// storeUntilKilled prints the number of each message that is stored.
func storeUntilKilled(dir string) {
	s, err := Open(Config{Dir: dir})
	if err == nil {
		l := history.DefaultLimits()
		l.Messages = 50
		err = s.Define(history.Definition{Name: "h", Limits: l})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	out := bufio.NewWriter(os.Stdout)
	window := make(chan struct{}, 200)
	for i := 0; ; i++ {
		window <- struct{}{}
		s.Append(&history.Message{
			History: "h", Tenant: "t", Channel: fmt.Appendf(nil, "c.%d", i%7), Payload: fmt.Append(nil, i), Key: fmt.Append(nil, os.Getpid(), i),
			Stored: func(m *history.Message, r history.Result) {
				if r.Err != nil {
					fmt.Fprintln(os.Stderr, r.Err)
					os.Exit(1)
				}
				fmt.Fprintf(out, "%d %s %s\n", r.Position.N, m.Channel, m.Payload)
				_ = out.Flush()
				<-window
			},
		})
	}
}

// A process that is killed has lost nothing that it called stored, and repeats nothing.
func TestKill(t *testing.T) {
	rounds := 4
	if os.Getenv("MILLRACE_SOAK") != "" {
		rounds = 200
	}
	dir := t.TempDir()
	last := uint64(0)
	for round := range rounds {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(os.Environ(), killDirEnv+"="+dir)
		cmd.Stderr = os.Stderr
		pipe, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		type stored struct{ channel, payload string }
		told := map[uint64]stored{}
		lines := bufio.NewScanner(pipe)
		before := last
		for lines.Scan() {
			f := strings.Fields(lines.Text())
			if len(f) != 3 {
				break // the last line of one that was killed
			}
			n, err := strconv.ParseUint(f[0], 10, 64)
			if err != nil || n <= last {
				t.Fatalf("%q follows %d", lines.Text(), last)
			}
			last = n
			told[n] = stored{f[1], f[2]}
			if len(told) == 500+round*37 {
				must(t, cmd.Process.Kill())
			}
		}
		_ = cmd.Wait()
		s := open(t, Config{Dir: dir})
		got := map[uint64]stored{}
		p := page(t, s, "#", before)
		for _, m := range p.Messages {
			got[m.Position.N] = stored{m.Channel, string(m.Payload)}
		}
		head, err := s.Head("h", "t")
		if err != nil || head.N < last {
			t.Fatalf("round %d: the head is %v, %v, and %d was stored", round, head, err, last)
		}
		last = head.N
		for n, m := range told {
			if n+300 > last && got[n] != m { // the newest 50 of each channel are kept
				t.Errorf("round %d: %d was %v, is %v", round, n, m, got[n])
			}
		}
		if p.Removed.N == 0 || p.Removed.N > last {
			t.Errorf("round %d: removed up to %v", round, p.Removed)
		}
		must(t, s.Close())
	}
}

func BenchmarkWaits(b *testing.B) {
	historytest.BenchmarkWaits(b, func(b *testing.B) history.Store {
		s, err := Open(Config{Dir: b.TempDir(), Cache: DefaultCache, Reserve: DefaultReserve})
		must(b, err)
		return s
	})
}

var must = testcheck.Must

// errorOf is the error of a call that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }

// Messages that were removed take no place among the cached ones, whether they are in front
// or behind one that stays.
func TestCacheForgetsRemoved(t *testing.T) {
	l := history.DefaultLimits()
	l.Messages = 1
	for _, stays := range []bool{false, true} {
		t.Run(fmt.Sprintf("stays=%v", stays), func(t *testing.T) {
			k := newKept("h", 7, l)
			now := time.Now()
			add := func(channel string) {
				m := &history.Message{History: "h", Tenant: "t", Channel: []byte(channel), Payload: []byte("12345")}
				k.add(&pending{message: m, of: k, at: k.Index.Next("t", now)}, DefaultCache, now)
			}
			want := 1
			if stays {
				add("stays")
				want++
			}
			for range 10_000 {
				add("c")
			}
			if len(k.cached) > 2*want+64 || k.alive != want || k.bytes != 5*want {
				t.Errorf("%d entries are cached, counted %d with %d bytes; %d messages are kept", len(k.cached), k.alive, k.bytes, want)
			}
		})
	}
}

// equal compares what a test has got with what it wants.
func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
