package networks

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/wire"
)

// latencyChannels are the four subscriptions of a client.
var latencyChannels = []string{"a", "b", "c", "d"}

const (
	latencyEvery = 10 * time.Millisecond // between messages, to one channel after the other
	latencySize  = 100                   // bytes of a payload
	warmUp       = 2 * time.Second       // which does not count
)

// latencyWays are the ways that are compared.
var latencyWays = []string{"WebSocket", "WebTransport, one stream", "WebTransport, own streams"}

// What loss and distance do to messages, by transport; see docs/networks.md. In make check it is
// only seen that messages come.
func TestLatencyUnderLoss(t *testing.T) {
	if whyNot != nil {
		t.Skipf("no network namespaces here: %v", whyNot)
	}
	t.Parallel()
	losses, trips, seconds := []float64{0, 0.01, 0.02, 0.05}, []int{1, 30, 100}, 60
	if !soaking {
		losses, trips, seconds = []float64{0.02}, []int{30}, 3
	}
	if text := os.Getenv("MILLRACE_SECONDS"); text != "" {
		var err error
		if seconds, err = strconv.Atoi(text); err != nil || seconds < 1 {
			t.Fatalf("MILLRACE_SECONDS is %q, want a number", text)
		}
	}
	l := startLab(t)
	l.heal()
	stop := l.publishTimes()
	defer stop()
	var table strings.Builder
	fmt.Fprintf(&table, "p50 / p99 / longest silence, in ms\n\n| loss | round trip | %s |\n|---|---|---|---|---|\n", strings.Join(latencyWays, " | "))
	for _, loss := range losses {
		for _, trip := range trips {
			l.treat(netlab.Treatment{Loss: loss, Delay: time.Duration(trip) * time.Millisecond / 2})
			fmt.Fprintf(&table, "| %g %% | %d ms |", 100*loss, trip)
			for i, got := range l.latencies(time.Duration(seconds) * time.Second) {
				fmt.Fprintf(&table, " %.1f / %.0f / %.0f |", got.P50, got.P99, got.Silence)
				if got.Messages == 0 {
					t.Errorf("%s: no messages at a loss of %g and %d ms", latencyWays[i], loss, trip)
				}
			}
			table.WriteString("\n")
		}
	}
	t.Log("\n" + table.String())
}

// publishTimes publishes the time of day, until stop.
func (l *lab) publishTimes() (stop func()) {
	l.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws://"+l.near.machine.IP+":8080/ws", http.Header{"Authorization": {"Bearer " + l.token}})
	if err != nil {
		l.Fatal(err)
	}
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(gone)
		tick := time.NewTicker(latencyEvery)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-tick.C:
			case <-quit:
				return
			}
			payload := append(strconv.AppendInt(nil, time.Now().UnixNano(), 10), ' ')
			payload = append(payload, make([]byte, latencySize-len(payload))...)
			frame := wire.AppendPublish(nil, wire.Publish{
				Tenant: []byte(tenant), Channel: []byte(latencyChannels[i%len(latencyChannels)]), Payload: payload,
			})
			if err := conn.WriteMessage(websocket.BinaryMessage, frame); err != nil {
				l.Errorf("publish: %v", err)
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-gone
		_ = conn.Close()
	}
}

// measurement is what a client of latencies is asked for.
type measurement struct {
	Way   int // of latencyWays
	Edge  string
	Token string
	For   time.Duration
}

// measured is its answer; times are in milliseconds.
type measured struct {
	Messages          int
	P50, P99, Silence float64
}

// latencies has a client for each way measure at the same time.
func (l *lab) latencies(during time.Duration) []measured {
	l.Helper()
	type running struct {
		wait func() error
		out  *strings.Builder
	}
	var all []running
	for way := range latencyWays {
		text, err := json.Marshal(measurement{way, l.near.url(), l.token, during})
		if err != nil {
			l.Fatal(err)
		}
		cmd := l.network.Machine(clientMachine).Command(os.Args[0])
		cmd.Env = append(os.Environ(), hostEnv+"=latency", rootEnv+"="+l.cert.file)
		out := new(strings.Builder)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(string(text)), out, os.Stderr
		if err := cmd.Start(); err != nil {
			l.Fatal(err)
		}
		all = append(all, running{cmd.Wait, out})
	}
	list := make([]measured, len(all))
	for i, r := range all {
		if err := r.wait(); err != nil {
			l.Errorf("%s: %v", latencyWays[i], err)
		} else if err := json.Unmarshal([]byte(r.out.String()), &list[i]); err != nil {
			l.Errorf("%s: %v: %s", latencyWays[i], err, r.out)
		}
	}
	return list
}
