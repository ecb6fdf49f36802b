package networks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/clientdriver"
	"github.com/millrace/millrace/internal/netlab"
	"github.com/millrace/millrace/wire"
)

// latencyChannels are the four subscriptions of a client.
var latencyChannels = []string{"a", "b", "c", "d"}

// latencyWays are the ways that are compared.
var latencyWays = []struct {
	name  string
	begin func(measurement, *tls.Config, *arrivals) error
}{{"WebSocket", overWebSocket}, {"WebTransport, one stream", overOne}, {"WebTransport, own streams", overOwn}}

// measurement is what a client of latencies is asked for.
type measurement struct {
	Way         int // of latencyWays
	Edge, Token string
	Messages    int // the first quarter does not count
}

// measured is its answer, in milliseconds.
type measured struct{ P50, P99, Silence float64 }

// What loss and distance do to messages, by transport; see docs/networks.md. The short form
// sees only that messages come.
func TestLatencyUnderLoss(t *testing.T) {
	t.Parallel()
	losses, trips := harness.AtLength([]float64{0.02}, []float64{0, 0.01, 0.02, 0.05}), harness.AtLength([]int{30}, []int{1, 30, 100})
	messages := 100 * count(t, "MILLRACE_SECONDS", harness.AtLength(1, 60))
	l := startLab(t)
	l.heal()
	defer l.publish(l.near, 10*time.Millisecond, 100, latencyChannels...).stop()
	table := "\np50 / p99 / longest silence, in ms\n\n| loss | round trip |"
	for _, way := range latencyWays {
		table += " " + way.name + " |"
	}
	table += "\n|---|---|---|---|---|\n"
	for _, loss := range losses {
		for _, trip := range trips {
			l.treat(netlab.Treatment{Loss: loss, Delay: time.Duration(trip) * time.Millisecond / 2})
			table += fmt.Sprintf("| %g %% | %d ms |", 100*loss, trip)
			for _, got := range l.latencies(messages) {
				table += fmt.Sprintf(" %.1f / %.0f / %.0f |", got.P50, got.P99, got.Silence)
			}
			table += "\n"
		}
	}
	t.Log(table)
}

// latencies has a client for each way measure at the same time.
func (l *lab) latencies(messages int) []measured {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), limit+time.Duration(messages)*20*time.Millisecond)
	defer cancel()
	list := make([]measured, len(latencyWays))
	var waits []func() error
	for way := range latencyWays {
		text, err := json.Marshal(measurement{way, l.near.url(), l.token, messages})
		if err != nil {
			l.Fatal(err)
		}
		cmd := l.network.Machine(clientMachine).Command(os.Args[0])
		cmd.Env = append(os.Environ(), hostEnv+"=latency", clientdriver.RootsVariable+"="+filepath.Join(l.roots, "root.crt"))
		out := new(bytes.Buffer)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), out, os.Stderr
		if err := cmd.Start(); err != nil {
			l.Fatal(err)
		}
		stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() }) // it may just have ended
		waits = append(waits, func() error {
			defer stop()
			return errors.Join(cmd.Wait(), json.Unmarshal(out.Bytes(), &list[way]))
		})
	}
	for way, wait := range waits {
		if err := wait(); err != nil {
			l.Errorf("%s: %v", latencyWays[way].name, err)
		}
	}
	return list
}

// arrivals is when messages came, and how old they were.
type arrivals struct {
	came   chan arrival
	failed chan error
}

type arrival struct {
	at  time.Time
	age time.Duration
}

// runLatency is the process of a client of [lab.latencies].
func runLatency() error {
	var m measurement
	if err := json.NewDecoder(os.Stdin).Decode(&m); err != nil {
		return err
	}
	root, err := os.ReadFile(os.Getenv(clientdriver.RootsVariable))
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(root)
	a := &arrivals{make(chan arrival, 1024), make(chan error, len(latencyChannels)+1)}
	if err := latencyWays[m.Way].begin(m, &tls.Config{RootCAs: pool}, a); err != nil {
		return err
	}
	var all []arrival
	for len(all) < m.Messages*4/3 {
		select {
		case came := <-a.came:
			all = append(all, came)
		case err := <-a.failed:
			return err
		}
	}
	all = all[len(all)/4:]
	slices.SortFunc(all, func(a, b arrival) int { return a.at.Compare(b.at) })
	var ages []time.Duration
	var silence time.Duration
	for i, came := range all {
		ages = append(ages, came.age)
		if i > 0 {
			silence = max(silence, came.at.Sub(all[i-1].at))
		}
	}
	slices.Sort(ages)
	inMS := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	return json.NewEncoder(os.Stdout).Encode(measured{inMS(ages[len(ages)/2]), inMS(ages[len(ages)*99/100]), inMS(silence)})
}

// follow reads messages until the process ends.
func (a *arrivals) follow(next func() ([]byte, error)) {
	for {
		message, err := next()
		now := time.Now()
		if err == nil && bytes.HasPrefix(message, []byte("ERR")) {
			err = fmt.Errorf("the edge says %s", message)
		}
		if err == nil && wire.IsFrame(message) {
			var d wire.Deliver
			if d, err = wire.DecodeDeliver(message); err == nil {
				a.came <- arrival{now, now.Sub(time.Unix(0, int64(binary.BigEndian.Uint64(d.Payload[8:16]))))}
			}
		}
		if err != nil {
			a.failed <- err
			return
		}
	}
}

func overWebSocket(m measurement, trust *tls.Config, a *arrivals) error {
	dialer := websocket.Dialer{TLSClientConfig: trust}
	conn, _, err := dialer.Dial("wss"+strings.TrimPrefix(m.Edge, "https")+"/ws", http.Header{"Authorization": {"Bearer " + m.Token}})
	if err != nil {
		return err
	}
	for _, channel := range latencyChannels {
		if err := conn.WriteMessage(websocket.TextMessage, []byte("SUB:"+tenant+":"+channel)); err != nil {
			return err
		}
	}
	go a.follow(func() ([]byte, error) { _, message, err := conn.ReadMessage(); return message, err })
	return nil
}

// openSession opens a session with a stream, as the SDK does, and sends a line of it.
func openSession(ctx context.Context, m measurement, trust *tls.Config, a *arrivals, lines ...string) (*webtransport.Session, error) {
	trust.NextProtos = []string{http3.NextProtoH3}
	address := strings.TrimPrefix(m.Edge, "https://")
	trust.ServerName, _, _ = strings.Cut(address, ":")
	conn, err := quic.DialAddr(ctx, address, trust, &quic.Config{
		EnableDatagrams: true, EnableStreamResetPartialDelivery: true, KeepAlivePeriod: 10 * time.Second,
	})
	if err != nil {
		return nil, err
	}
	client, err := (&webtransport.Transport{ApplicationProtocols: []string{wire.Subprotocol}}).NewClientConn(conn)
	if err != nil {
		return nil, err
	}
	_, session, err := client.Dial(ctx, m.Edge+"/wt", http.Header{"Authorization": {"Bearer " + m.Token}})
	if err != nil {
		return nil, err
	}
	stream, err := session.OpenStreamSync(ctx)
	for _, line := range lines {
		if err == nil {
			_, err = stream.Write(wire.AppendMessage(nil, []byte(line)))
		}
	}
	if err == nil {
		go a.follow(messagesOf(stream))
	}
	return session, err
}

func overOne(m measurement, trust *tls.Config, a *arrivals) error {
	var lines []string
	for _, channel := range latencyChannels {
		lines = append(lines, "SUB:"+tenant+":"+channel)
	}
	_, err := openSession(context.Background(), m, trust, a, lines...)
	return err
}

func overOwn(m measurement, trust *tls.Config, a *arrivals) error {
	ctx := context.Background()
	session, err := openSession(ctx, m, trust, a, "PING") // else the edge does not hear of the stream
	if err != nil {
		return err
	}
	lines, err := session.OpenUniStream()
	if err != nil {
		return err
	}
	for _, channel := range latencyChannels {
		if _, err := io.WriteString(lines, "SUB:U:"+tenant+":"+channel+"\n"); err != nil {
			return err
		}
	}
	for range latencyChannels {
		own, err := session.AcceptUniStream(ctx)
		if err != nil {
			return err
		}
		go a.follow(messagesOf(own))
	}
	return nil
}

// messagesOf reads messages behind their lengths.
func messagesOf(stream io.Reader) func() ([]byte, error) {
	reader := bufio.NewReader(stream)
	return func() ([]byte, error) {
		var length [4]byte
		if _, err := io.ReadFull(reader, length[:]); err != nil {
			return nil, err
		}
		size := binary.BigEndian.Uint32(length[:])
		if size > 1<<20 {
			return nil, errors.New("a message is too long")
		}
		message := make([]byte, size)
		_, err := io.ReadFull(reader, message)
		return message, err
	}
}
