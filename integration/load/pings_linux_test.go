package load

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// pings are clients that ask whether their edge lives, in a process of their own.
type pings struct {
	URL       string
	Tokens    []string
	N         int
	KeepAlive time.Duration
	During    time.Duration // of each phase
}

// pingPhases are what clients get: nothing, a message each second, ten at once every ten seconds.
var pingPhases = []struct {
	name  string
	every time.Duration // 0: never
	burst int
}{
	{"idle", 0, 0},
	{"a message a second", time.Second, 1},
	{"ten messages every ten seconds", 10 * time.Second, 10},
}

// What clients cost an edge by asking whether it lives: none does so more often than it
// must, with messages or without.
func TestPings(t *testing.T) {
	t.Parallel()
	p := &pings{
		N: harness.SoakCount(t, 100, 10_000), KeepAlive: harness.AtLength(time.Second, 25*time.Second),
		During: harness.AtLength(4*time.Second, 130*time.Second), // some times KeepAlive, as clients that came together ask together
	}
	if text := os.Getenv("MILLRACE_SECONDS"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 1 {
			t.Fatalf("MILLRACE_SECONDS is %q, want a number", text)
		}
		p.During = time.Duration(seconds) * time.Second
	}
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	p.URL = e.HttpURL("")
	for range p.N/stormTogether + 1 {
		p.Tokens = append(p.Tokens, e.Issue(harness.AllowAll("room")).Token)
	}
	publisher := e.Dial(e.Issue(harness.AllowAll("room")).Token)
	go drain(publisher) // ends with the test
	clients := harness.StartSubprocess(t, "TestPingsProcess", p)
	clients.Await("connected", 10*time.Minute)
	for _, phase := range pingPhases {
		quit, gone := make(chan struct{}), make(chan error, 1)
		go func() { gone <- publishBursts(publisher.Link, phase.every, phase.burst, quit) }() // ends with quit
		clients.Await("begin: "+phase.name, 5*time.Minute+p.settling())                       // in a soak it gives way to all others
		before, begin := cpuTime(e), time.Now()
		clients.Await("end: "+phase.name, 5*time.Minute+p.During)
		used := cpuTime(e) - before
		t.Logf("%s: the edge used %.3f cores", phase.name, used.Seconds()/time.Since(begin).Seconds())
		close(quit)
		if err := <-gone; err != nil {
			t.Fatal(err)
		}
	}
	clients.End("PINGs")
}

// settling is how long a phase goes on before it is measured.
func (p *pings) settling() time.Duration { return p.KeepAlive + p.KeepAlive/2 }

func publishBursts(to harness.Link, every time.Duration, burst int, quit <-chan struct{}) error {
	if every == 0 {
		<-quit
		return nil
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.room"), Channel: []byte("pings"), Payload: []byte("x")})
	for {
		for range burst {
			if err := to.Write(websocket.BinaryMessage, frame); err != nil {
				return err
			}
		}
		select {
		case <-tick.C:
		case <-quit:
			return nil
		}
	}
}

// TestPingsProcess is the process of the clients.
func TestPingsProcess(t *testing.T) {
	t.Parallel()
	p := &pings{}
	if !harness.IsSubprocess(t, p) {
		return
	}
	var answered, other atomic.Int64
	options := client.Options{
		Transports: []client.Transport{client.WebSocket}, KeepAlive: p.KeepAlive,
		OnEvent: func(e client.Event) {
			switch e.(type) {
			case client.Connected:
			case client.RoundTrip:
				answered.Add(1)
			default:
				other.Add(1)
			}
		},
	}
	var mu sync.Mutex
	var all []*client.Client
	defer func() {
		for _, c := range all {
			_ = c.Close()
		}
	}()
	for i := 0; i < p.N; i += stormTogether {
		var group sync.WaitGroup
		for range min(stormTogether, p.N-i) {
			group.Go(func() {
				o := options
				o.Token = p.Tokens[i/stormTogether]
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				c, err := client.Connect(ctx, []string{p.URL}, o)
				if err == nil {
					_, err = c.SubscribeFunc(ctx, "paint.room", "pings", func(client.Message) {})
				}
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				all = append(all, c)
				mu.Unlock()
			})
		}
		group.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	fmt.Println("connected")
	for _, phase := range pingPhases {
		time.Sleep(p.settling())
		fmt.Println("begin: " + phase.name)
		before, begin := answered.Load(), time.Now()
		time.Sleep(p.During)
		sent, took := answered.Load()-before, time.Since(begin)
		fmt.Printf("%s: %d clients sent %.1f PINGs a second, %d in %.0f s; %d events of other kinds\n",
			phase.name, p.N, float64(sent)/took.Seconds(), sent, took.Seconds(), other.Load())
		// Each asks once in KeepAlive, and once in a silence behind messages; and once more at the ends.
		asks := took/p.KeepAlive + 2
		if phase.every != 0 {
			asks += took / phase.every
		}
		if most := int64(p.N) * int64(asks); sent > most {
			t.Errorf("%s: %d PINGs in %v, want %d at most", phase.name, sent, took, most)
		}
		if phase.every == 0 && sent == 0 {
			t.Errorf("%s: nobody asked in %v", phase.name, took)
		}
		fmt.Println("end: " + phase.name)
	}
	harness.AwaitParent()
}
