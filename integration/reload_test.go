package integration

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

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
func reloadsLoseNothing(c *stage) {
	const publishers = 2
	subscribers, reloads := c.crowd, c.reloads
	token := c.room()
	outcomes := make(chan error, subscribers+publishers)
	for range subscribers {
		s := c.subscriber(token)
		s.subscribe("paint.room", "seq.*")
		go func() { outcomes <- followSequences(s.link, publishers) }() // ends with the sequences, or the session
	}
	stop := make(chan struct{})
	for n := range publishers {
		p := c.publisher(token)
		go func() { outcomes <- publishSequence(p.link, fmt.Sprintf("seq.%d", n), stop) }() // ends with stop
	}

	probe := c.dial(token)
	for n := range reloads {
		if n%2 == 0 {
			c.reload(european)
		} else {
			c.reload(american)
		}
		fresh := c.dial(token)
		for _, s := range []*socket{probe, fresh} {
			s.publish("paint.room", "big", strings.Repeat("x", 2048))
			if n%2 == 0 {
				s.expectText("ERR:payload_too_large:PUB:paint.room:big")
			}
			s.ping()
		}
		fresh.close()
	}
	close(stop)
	for range subscribers + publishers {
		if err := <-outcomes; err != nil {
			c.t.Error(err)
		}
	}
}

// publishSequence publishes the numbers from 1 until stop is closed, at least a
// hundred, then an "end" with the last one.
func publishSequence(l link, channel string, stop <-chan struct{}) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	publish := func(payload string) error {
		frame := wire.AppendPublish(nil, wire.Publish{Tenant: []byte("paint.room"), Channel: []byte(channel), Payload: []byte(payload)})
		if err := l.write(asFrame, frame); err != nil {
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
func followSequences(l link, sequences int) error {
	got := map[string]int{}
	for sequences > 0 {
		kind, message, err := l.read()
		if err != nil {
			return fmt.Errorf("a subscriber after %v: %w", got, err)
		}
		if kind != asFrame {
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

// second is the token in SECOND.
var second = newMasterToken()

// A new configuration holds at once, on open sockets, for new ones, and for
// master tokens.
func reloadTakesEffect(c *stage) {
	withSecond := strings.Replace(defaultMaster, "MILLRACE_MASTER_TOKEN", "SECOND", 1)
	s := c.dial(c.room())
	request := tokenRequest(allowAll("room"))
	request["right"].(object)["allow_regions"] = []string{"EU"}
	regional := c.issueAs(c.master, request).Token

	_, refused := c.open(handshake{Token: regional})
	refused.problem(c.t, 403, "region_not_allowed")
	c.rest("GET", "/v1/tokens", second, nil).problem(c.t, 401, "bad_master_token")
	s.subscribe("paint.room", "a", "b", "c")

	c.reload(strings.Replace(european, defaultMaster, withSecond, 1))
	c.mustOpen(handshake{Token: regional}).ping()
	c.rest("GET", "/v1/tokens", c.master, nil).problem(c.t, 401, "bad_master_token")
	c.list(second, "")
	s.sendLine("SUB:paint.room:d") // it keeps what it had, and gets no more
	s.expectText("ERR:too_many_subscriptions:SUB:paint.room:d")
	s.publish("paint.room", "c", strings.Repeat("x", 1025))
	s.expectText("ERR:payload_too_large:PUB:paint.room:c")
	s.publish("paint.room", "c", strings.Repeat("x", 1024))
	s.expectDeliver("paint.room", "c", strings.Repeat("x", 1024), "c")

	c.reload(strings.Replace(american, defaultMaster, defaultMaster+withSecond, 1))
	_, refused = c.open(handshake{Token: regional})
	refused.problem(c.t, 403, "region_not_allowed")
	c.list(second, "")
	c.list(c.master, "")
	s.subscribe("paint.room", "d")
	s.publish("paint.room", "c", strings.Repeat("x", 1025))
	s.expectDeliver("paint.room", "c", strings.Repeat("x", 1025), "c")
}

// A configuration that is refused changes nothing, wherever the refusal comes
// from. Caddy starts its apps in random order, so what fails in the start of
// one is tried several times.
func refusedReloadChangesNothing(c *stage) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	defer taken.Close()

	token := c.room()
	s := c.dial(token)
	s.subscribe("paint.room", "x")
	big := strings.Repeat("x", 2048)
	for _, row := range []struct {
		name, caddyfile string
		times           int
		says            string
	}{
		{"no Caddyfile", european + "}", 1, "Caddyfile"},
		{"unknown region", strings.Replace(european, "region EU", "region MOON", 1), 1, "region"},
		{"a store that does not open", strings.Replace(european, "{{.Store}}", "badger {{.Dir}}/Caddyfile", 1), 4, "token store"},
		{"a port that is taken", european + fmt.Sprintf("http://localhost:%d {\n\trespond hello\n}\n", taken.Addr().(*net.TCPAddr).Port), 4, "address already in use"},
	} {
		for range row.times {
			out, err := c.tryReload(row.caddyfile)
			if err == nil || !strings.Contains(out, row.says) {
				c.t.Fatalf("%s: got %v, want a refusal that says %q: %s", row.name, err, row.says, out)
			}
			s.publish("paint.room", "x", big)
			s.expectDeliver("paint.room", "x", big, "x")
			c.dial(token).close()
			if got := c.do(call{Method: "GET", URL: c.adminURL("/pubsub/connections")}); got.Status != 200 {
				c.t.Fatalf("%s: then the admin API answers %d: %s", row.name, got.Status, got.Body)
			}
		}
	}
	c.reload(european)
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
