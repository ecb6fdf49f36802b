package conformance

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The two configurations that the reload tests switch between.
var (
	American = strings.Replace(harness.DefaultCaddyfile, "drain 7s", "drain 7s\n\t\tregion US", 1)
	European = strings.Replace(harness.DefaultCaddyfile, "drain 7s", `drain 7s
		region EU
		limits {
			max_payload 1KiB
			max_subscriptions 2
		}`, 1)
)

// Every message reaches every subscriber once and in order, whatever is
// reloaded meanwhile.
func reloadsLoseNothing(c *harness.Stage) {
	const publishers = 2
	subscribers, reloads := c.Crowd, harness.AtLength(2, 20)
	token := c.Room()
	outcomes := make(chan error, subscribers+publishers)
	for range subscribers {
		s := c.Subscriber(token)
		s.Subscribe("paint.room", "seq.*")
		go func() { outcomes <- followSequences(s.Link, publishers) }() // ends with the sequences, or the session
	}
	stop := make(chan struct{})
	for n := range publishers {
		p := c.Publisher(token)
		go func() { outcomes <- publishSequence(p.Link, fmt.Sprintf("seq.%d", n), stop) }() // ends with stop
	}

	probe := c.Dial(token)
	for n := range reloads {
		c.Reload([]string{European, American}[n%2])
		fresh := c.Dial(token)
		for _, s := range []*harness.Socket{probe, fresh} {
			s.Publish("paint.room", "big", strings.Repeat("x", 2048))
			if n%2 == 0 {
				s.ExpectText("ERR:payload_too_large:PUB:paint.room:big")
			}
			s.Ping()
		}
		fresh.Close()
	}
	close(stop)
	for range subscribers + publishers {
		if err := <-outcomes; err != nil {
			c.T.Error(err)
		}
	}
}

// publishSequence publishes the numbers from 1 until stop is closed, at least
// twenty, then an "end" with the last one.
func publishSequence(l harness.Link, channel string, stop <-chan struct{}) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	publish := func(payload string) error {
		return l.Write(harness.AsFrame, harness.RawPublish("paint.room", channel, payload))
	}
	for n := 1; ; n++ {
		select {
		case <-stop:
			if n > 20 {
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
func followSequences(l harness.Link, sequences int) error {
	got := map[string]int{}
	for sequences > 0 {
		_, message, err := l.Read()
		if err != nil {
			return fmt.Errorf("a subscriber after %v: %w", got, err)
		}
		frame, err := wire.DecodeDeliver(message)
		if err != nil {
			return fmt.Errorf("a subscriber got %q after %v: %w", message, got, err)
		}
		channel := string(frame.Channel)
		switch payload := string(frame.Payload); payload {
		case strconv.Itoa(got[channel] + 1):
			got[channel]++
		case fmt.Sprintf("end %d", got[channel]):
			sequences--
		default:
			return fmt.Errorf("a subscriber got %q on %s after %d", payload, channel, got[channel])
		}
	}
	return nil
}

// second is the token in SECOND.
var second = harness.NewMasterToken()

// A new configuration holds at once, on open sockets, for new ones, and for master tokens.
// What a removed one has issued lives on, and a successor manages it.
func reloadTakesEffect(c *harness.Stage) {
	withSecond := strings.Replace(harness.DefaultMaster, "MILLRACE_MASTER_TOKEN", "SECOND", 1)
	token := c.Issue(harness.AllowAll("room"))
	s := c.Dial(token.Token)
	regional := c.Limited(harness.Object{"allow_regions": []string{"EU"}})
	_, refused := c.Open(harness.Handshake{Token: regional})
	refused.Problem(c.T, 403, "region_not_allowed")
	c.Rest("GET", "/v1/tokens", second, nil).Problem(c.T, 401, "bad_master_token")
	s.Subscribe("paint.room", "a", "b", "c")

	c.Reload(strings.Replace(European, harness.DefaultMaster, withSecond, 1))
	c.MustOpen(harness.Handshake{Token: regional}).Ping()
	c.Rest("GET", "/v1/tokens", c.Master, nil).Problem(c.T, 401, "bad_master_token")
	s.SendLine("SUB:paint.room:d") // it keeps what it had, and gets no more
	s.ExpectText("ERR:too_many_subscriptions:SUB:paint.room:d")
	s.Publish("paint.room", "c", strings.Repeat("x", 1025))
	s.ExpectText("ERR:payload_too_large:PUB:paint.room:c")
	s.Publish("paint.room", "c", strings.Repeat("x", 1024))
	s.ExpectDeliver("paint.room", "c", strings.Repeat("x", 1024), "c")

	c.Reload(strings.Replace(American, harness.DefaultMaster, harness.DefaultMaster+withSecond, 1))
	_, refused = c.Open(harness.Handshake{Token: regional})
	refused.Problem(c.T, 403, "region_not_allowed")
	c.List(c.Master, "")
	s.Subscribe("paint.room", "d")
	c.Revoke(second, token.Token).Decode(c.T, 200, new(harness.Object))
	s.ExpectText("ERR:token_revoked")
	s.ExpectClose(wire.CloseForbidden)
}

// A configuration that is refused changes nothing, wherever the refusal comes
// from. Caddy starts its apps in random order, so what fails in the start of
// one is tried several times.
func refusedReloadChangesNothing(c *harness.Stage) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	c.Must(err)
	defer taken.Close()

	token := c.Room()
	s := c.Dial(token)
	s.Subscribe("paint.room", "x")
	big := strings.Repeat("x", 2048)
	for _, row := range []struct {
		name, caddyfile string
		times           int
		says            string
	}{
		{"no Caddyfile", European + "}", 1, "Caddyfile"},
		{"unknown region", strings.Replace(European, "region EU", "region MOON", 1), 1, "region"},
		{"a store that does not open", strings.Replace(European, "{{.Store}}", "badger {{.Dir}}/Caddyfile", 1), harness.AtLength(1, 4), "token store"},
		{"a port that is taken", European + fmt.Sprintf("http://localhost:%d {\n\trespond hello\n}\n", taken.Addr().(*net.TCPAddr).Port), harness.AtLength(1, 4), "address already in use"},
	} {
		for range row.times {
			out, err := c.TryReload(row.caddyfile)
			if err == nil || !strings.Contains(out, row.says) {
				c.T.Fatalf("%s: got %v, want a refusal that says %q: %s", row.name, err, row.says, out)
			}
			s.Publish("paint.room", "x", big)
			s.ExpectDeliver("paint.room", "x", big, "x")
			c.Dial(token).Close()
			if got := c.Do(harness.Call{Method: "GET", URL: c.AdminURL("/pubsub/connections")}); got.Status != 200 {
				c.T.Fatalf("%s: then the admin API answers %d: %s", row.name, got.Status, got.Body)
			}
		}
	}
	c.Reload(European)
	s.Publish("paint.room", "x", big)
	s.ExpectText("ERR:payload_too_large:PUB:paint.room:x")
}
