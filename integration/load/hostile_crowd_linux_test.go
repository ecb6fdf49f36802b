package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/millrace/millrace/integration/harness"
)

// crowdNoise is what the edge's memory may hold beside what is counted for each
// member of the crowd, in KiB: buffers in use, and garbage of the moment.
const crowdNoise = 64 << 10

// dialAmongCrowd tries again, except in soaks, if an edge with the race detector, on a
// busy machine, takes longer than the 5 s that a handshake has.
func dialAmongCrowd(e *harness.Edge, token string) *harness.Socket {
	for {
		s, a, err := e.TryWebTransport(harness.Handshake{Token: token})
		var late *quic.IdleTimeoutError
		switch {
		case s != nil:
			return s
		case harness.Soaking || !errors.As(err, &late):
			e.T.Fatalf("a client is not served: %v %d %s", err, a.Status, a.Body)
		}
	}
}

// A crowd that never authenticates, in all ways at once: half handshakes, requests
// a byte at a time, silent WebTransport sessions, packets of garbage, headers that
// a table repeats, replays. Clients that keep the rules get in all the while, and
// lose nothing.
func TestHostileCrowd(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, loggedCaddyfile)
	calm := e.StartCalm()
	token := e.Issue(harness.AllowAll("room")).Token
	replayed := captureEarlyData(e, token)
	before, usedBefore := e.Memory(), cpuTime(e)

	begin, length := time.Now(), harness.SoakFor(t, 8*time.Second, 10*time.Minute)
	ctx, cancel := context.WithTimeout(context.Background(), length)
	defer cancel()
	crowd := []*crowdPart{
		{name: "half TLS handshakes", members: 400, act: e.HalfHandshake},
		{name: "requests a byte at a time", members: 200, act: e.SlowRequest},
		{name: "silent WebTransport sessions", members: 100, act: e.SilentSession},
		{name: "garbage QUIC packets", members: 2, act: e.GarbagePackets},
		{name: "header bombs", members: 4, act: e.HeaderBombs},
		{name: "replays of early data", members: 2, act: func(ctx context.Context, _ int) (int, error) { return replays(e, ctx, replayed) }},
	}
	var all sync.WaitGroup
	members := 0
	for _, part := range crowd {
		members += part.members
		for i := range part.members {
			all.Go(func() { part.Run(ctx, i) })
		}
	}

	var took []time.Duration
	most := 0
	for ctx.Err() == nil {
		for _, open := range []func() *harness.Socket{
			func() *harness.Socket {
				return e.MustOpen(harness.Handshake{URL: fmt.Sprintf("wss://localhost:%d/ws", e.HTTPS), Token: token})
			},
			func() *harness.Socket { return dialAmongCrowd(e, token) },
		} {
			start := time.Now()
			s := open()
			s.Subscribe("paint.room", "x")
			s.Publish("paint.room", "x", "hello")
			s.ExpectDeliver("paint.room", "x", "hello", "x")
			took = append(took, time.Since(start))
			// Its close code may get lost over WebTransport, on a busy machine.
			s.Must(s.Leave())
			if err := s.UntilEnd(); errors.Is(err, harness.ErrWaitTimeout) {
				t.Error("a session does not end: ", err)
			}
		}
		most = max(most, e.ResidentMiB())
		select {
		case <-time.After(200 * time.Millisecond): // between two clients
		case <-ctx.Done():
		}
	}
	used := cpuTime(e) - usedBefore
	e.CheckGrowth(before, members*harness.ConnectionCost+crowdNoise, "the crowd")
	all.Wait()
	for _, part := range crowd {
		t.Logf("%-30s %d members, %d times; %d errors, the last: %v", part.name, part.members, part.times.Load(), part.failed.Load(), part.last.Load())
		if part.times.Load() == 0 {
			t.Errorf("%s: none was made", part.name)
		}
	}
	slices.Sort(took)
	worst := took[len(took)-1]
	t.Logf("%d legitimate clients connected, subscribed and got a message: median %v, p99 %v, longest %v",
		len(took), took[len(took)/2], took[len(took)*99/100], worst)
	t.Logf("the edge used %.2f cores and at most %d MiB", used.Seconds()/time.Since(begin).Seconds(), most)
	if harness.Soaking && worst > time.Second {
		t.Errorf("a legitimate client took %v, want less than a second", worst)
	}
	calm.Check()
}

// crowdPart is those of the crowd that do the same. act does it once, until ctx
// ends at the latest, and says how often; an error is the edge's refusal.
type crowdPart struct {
	name          string
	members       int
	act           func(ctx context.Context, member int) (int, error)
	times, failed atomic.Int64
	last          atomic.Value
}

func (p *crowdPart) Run(ctx context.Context, member int) {
	for ctx.Err() == nil {
		n, err := p.act(ctx, member)
		p.times.Add(int64(n))
		if err != nil && ctx.Err() == nil {
			p.failed.Add(1)
			p.last.Store(err.Error())
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond): // a refusal is not asked for without end
			}
		}
	}
}

// cpuTime is what the edge has used of the processors.
func cpuTime(e *harness.Edge) time.Duration {
	e.T.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.Cmd.Process.Pid))
	if err != nil {
		e.T.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	total := 0
	for _, field := range strings.Fields(rest)[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.Atoi(field)
		if err != nil {
			e.T.Fatal(err)
		}
		total += n
	}
	return time.Duration(total) * 10 * time.Millisecond
}

// captureEarlyData returns the datagrams of a client that resumes a connection and
// sends a handshake as early data.
func captureEarlyData(e *harness.Edge, token string) [][]byte {
	e.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*harness.WaitTimeout)
	defer cancel()
	config := resumption(e, ctx)
	r := startRelay(e)
	r.holdBack()
	conn, client := r.dialEarly(ctx, e, config)
	defer harness.CloseQUIC(conn)
	request := early{method: http.MethodConnect, path: "/wt", proto: "webtransport-h3", token: token}
	stream, err := request.Send(e, client)
	if err != nil {
		e.T.Fatal(err)
	}
	e.Poll("the answer to early data", func() bool { return strings.Contains(e.Output(), `"status":425`) })
	captured := r.release()
	if res, err := stream.ReadResponse(); err != nil || res.StatusCode != http.StatusTooEarly {
		e.T.Fatalf("early data: got %v, %v; want 425", res, err)
	}
	return captured
}

// replays sends what a client has sent as early data, from a port of its own, for a
// second.
func replays(e *harness.Edge, ctx context.Context, captured [][]byte) (int, error) {
	for n := range 50 {
		conn, err := net.DialUDP("udp4", nil, e.UdpAddress())
		if err != nil {
			return n, err
		}
		for _, datagram := range captured {
			_, _ = conn.Write(datagram) // may be lost
		}
		conn.Close()
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return n, nil
		}
	}
	return 50, nil
}
