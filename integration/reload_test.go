package integration

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/wire"
)

// The two configurations that the reload tests switch between.
var (
	american = strings.Replace(defaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion US", 1)
	european = strings.Replace(defaultCaddyfile, "drain 7s", `drain 7s
		region EU
		limits {
			max_payload 1KiB
			max_subscriptions 2
		}`, 1)
)

// Every message reaches every subscriber once and in order, whatever is
// reloaded meanwhile.
func TestReloadsLoseNothing(t *testing.T) {
	t.Parallel()
	const (
		subscribers = 200
		publishers  = 2
		reloads     = 20
	)
	e := startEdge(t, american)
	token := e.issue(allowAll("room")).Token
	outcomes := make(chan error, subscribers+publishers)
	for range subscribers {
		s := e.dial(token)
		s.subscribe("paint.room", "seq.*")
		go func() { outcomes <- followSequences(s.conn, publishers) }() // ends with the sequences, or the socket
	}
	stop := make(chan struct{})
	for n := range publishers {
		p := e.dial(token)
		go func() { outcomes <- publishSequence(p.conn, fmt.Sprintf("seq.%d", n), stop) }() // ends with stop
	}

	probe := e.dial(token)
	for n := range reloads {
		if n%2 == 0 {
			e.reload(european)
			probe.publish("paint.room", "big", strings.Repeat("x", 2048))
			probe.expectText("ERR:payload_too_large:PUB:paint.room:big")
		} else {
			e.reload(american)
			probe.publish("paint.room", "big", strings.Repeat("x", 2048))
			probe.ping()
		}
	}
	close(stop)
	for range subscribers + publishers {
		if err := <-outcomes; err != nil {
			t.Error(err)
		}
	}
}

// publishSequence publishes the numbers from 1 until stop is closed, at least a
// hundred, then an "end" with the last one.
func publishSequence(conn *websocket.Conn, channel string, stop <-chan struct{}) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	publish := func(payload string) error {
		frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.room"), Channel: []byte(channel), Payload: []byte(payload)})
		if err := conn.WriteMessage(websocket.BinaryMessage, frame); err != nil {
			return fmt.Errorf("%s: message %s: %w", channel, payload, err)
		}
		return nil
	}
	for n := 1; ; n++ {
		select {
		case <-stop:
			if n > 100 {
				return publish(fmt.Sprintf("end %d", n-1))
			}
		default:
		}
		if err := publish(strconv.Itoa(n)); err != nil {
			return err
		}
		<-tick.C
	}
}

// followSequences reads until the ends of this many sequences.
func followSequences(conn *websocket.Conn, sequences int) error {
	got := map[string]int{}
	for sequences > 0 {
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		kind, message, err := conn.ReadMessage()
		if err != nil {
			return fmt.Errorf("a subscriber after %v: %w", got, err)
		}
		if kind != websocket.BinaryMessage {
			return fmt.Errorf("a subscriber got the line %q after %v", message, got)
		}
		frame, err := wire.DecodeDeliver(message)
		if err != nil {
			return err
		}
		channel := string(frame.Channel)
		want := strconv.Itoa(got[channel] + 1)
		switch payload := string(frame.Payload); {
		case payload == want:
			got[channel]++
		case payload == fmt.Sprintf("end %d", got[channel]):
			sequences--
		default:
			return fmt.Errorf("a subscriber got %q on %s, want %s or the end", payload, channel, want)
		}
	}
	return nil
}

// A new configuration holds at once, on open sockets, for new ones, and for
// master tokens.
func TestReloadTakesEffect(t *testing.T) {
	t.Parallel()
	second := newMasterToken()
	withSecond := strings.Replace(defaultMaster, "MILLRACE_MASTER_TOKEN", "SECOND", 1)
	e := startEdge(t, american, withEnv("SECOND="+second))
	s := e.dial(e.issue(allowAll("room")).Token)
	request := tokenRequest(allowAll("room"))
	request["right"].(object)["allow_regions"] = []string{"EU"}
	regional := e.issueAs(e.master, request).Token

	_, refused := e.open(handshake{Token: regional})
	refused.problem(t, 403, "region_not_allowed")
	e.rest("GET", "/v1/tokens", second, nil).problem(t, 401, "bad_master_token")
	s.subscribe("paint.room", "a", "b", "c")

	e.reload(strings.Replace(european, defaultMaster, withSecond, 1))
	e.mustOpen(handshake{Token: regional}).ping()
	e.rest("GET", "/v1/tokens", e.master, nil).problem(t, 401, "bad_master_token")
	e.list(second, "")
	s.sendLine("SUB:paint.room:d") // it keeps what it had, and gets no more
	s.expectText("ERR:too_many_subscriptions:SUB:paint.room:d")
	s.publish("paint.room", "c", strings.Repeat("x", 1025))
	s.expectText("ERR:payload_too_large:PUB:paint.room:c")
	s.publish("paint.room", "c", strings.Repeat("x", 1024))
	s.expectDeliver("paint.room", "c", strings.Repeat("x", 1024), "c")

	e.reload(strings.Replace(american, defaultMaster, defaultMaster+withSecond, 1))
	_, refused = e.open(handshake{Token: regional})
	refused.problem(t, 403, "region_not_allowed")
	e.list(second, "")
	e.list(e.master, "")
	s.subscribe("paint.room", "d")
	s.publish("paint.room", "c", strings.Repeat("x", 1025))
	s.expectDeliver("paint.room", "c", strings.Repeat("x", 1025), "c")
}

// A configuration that is refused changes nothing, wherever the refusal comes
// from. Caddy starts its apps in random order, so what fails in the start of
// one is tried several times.
func TestRefusedReloadChangesNothing(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()

	e := startEdge(t, american)
	token := e.issue(allowAll("room")).Token
	s := e.dial(token)
	s.subscribe("paint.room", "x")
	big := strings.Repeat("x", 2048)
	for _, c := range []struct {
		name, caddyfile string
		times           int
		says            string
	}{
		{"no Caddyfile", european + "}", 1, "Caddyfile"},
		{"unknown region", strings.Replace(european, "region EU", "region MOON", 1), 1, "region"},
		{"a store that does not open", strings.Replace(european, "{{.Dir}}/tokens", "{{.Dir}}/Caddyfile", 1), 4, "token store"},
		{"a port that is taken", european + fmt.Sprintf("http://localhost:%d {\n\trespond hello\n}\n", taken.Addr().(*net.TCPAddr).Port), 4, "address already in use"},
	} {
		for range c.times {
			out, err := e.tryReload(c.caddyfile)
			if err == nil || !strings.Contains(out, c.says) {
				t.Fatalf("%s: got %v, want a refusal that says %q: %s", c.name, err, c.says, out)
			}
			s.publish("paint.room", "x", big)
			s.expectDeliver("paint.room", "x", big, "x")
			e.dial(token).close()
			if got := e.do(call{Method: "GET", URL: e.adminURL("/pubsub/connections")}); got.Status != 200 {
				t.Fatalf("%s: then the admin API answers %d: %s", c.name, got.Status, got.Body)
			}
		}
	}
	e.reload(european)
	s.publish("paint.room", "x", big)
	s.expectText("ERR:payload_too_large:PUB:paint.room:x")
}

// A socket belongs to the app, not to the site that accepted it.
func TestSocketOutlivesItsSite(t *testing.T) {
	t.Parallel()
	e := startEdge(t, defaultCaddyfile)
	token := e.issue(allowAll("room")).Token
	s := e.dial(token)
	s.subscribe("paint.room", "x")

	e.reload(strings.ReplaceAll(defaultCaddyfile, "\tpubsub\n\trespond", "\trespond"))
	_, refused := e.open(handshake{Token: token})
	if refused.Status != 404 {
		t.Errorf("a handshake with a site without handlers: got %d, want 404", refused.Status)
	}
	s.publish("paint.room", "x", "still here")
	s.expectDeliver("paint.room", "x", "still here", "x")

	e.reload(defaultCaddyfile)
	again := e.dial(token)
	again.publish("paint.room", "x", "back")
	s.expectDeliver("paint.room", "x", "back", "x")
	again.close()

	// Without the app, its clients are sent elsewhere, and the reload waits for
	// them. It runs beside the test, so not by e.reload.
	e.write("{" + globalOptions + "}\n" + strings.ReplaceAll(sites, "\tpubsub\n", ""))
	reload := e.command("reload", "--config", e.file, "--adapter", "caddyfile", "--address", e.adminAddress())
	done := make(chan error, 1)
	go func() { // ends with the command
		out, err := reload.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		done <- err
	}()
	s.expectText("RECONNECT")
	s.close()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
