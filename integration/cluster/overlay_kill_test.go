package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/wire"
)

// end stops the stream. Of each listener it returns what it heard, and requires
// that nothing came twice or in another order.
func end(s *harness.Stream, t *testing.T) (sent int, heard [][]harness.Stamped) {
	t.Helper()
	close(s.Stop)
	sent = <-s.Sent
	for i, c := range s.Heard {
		list := <-c
		for k := range list[1:] {
			if list[k+1].N <= list[k].N {
				t.Errorf("listener %d: %d came after %d", i, list[k+1].N, list[k].N)
			}
		}
		heard = append(heard, list)
	}
	return sent, heard
}

// describe says what a listener lost, and how late the rest was.
func describe(sent int, list []harness.Stamped) string {
	var late []time.Duration
	gap, before := 0, -1
	for _, s := range list {
		late = append(late, s.Late)
		gap = max(gap, s.N-before-1)
		before = s.N
	}
	slices.Sort(late)
	return fmt.Sprintf("lost %d of %d, at most %d in a row (%v); p50 %v, p99 %v, max %v", sent-len(list), sent, gap,
		time.Duration(gap)*harness.StreamEvery, late[len(late)/2], late[len(late)*99/100], late[len(late)-1])
}

// The death of a NATS server costs messages for as long as its edge needs to find
// another one. Nobody else notices.
func TestKilledNode(t *testing.T) {
	t.Parallel()
	o := history.StartOverlay(t, overlayCaddyfile, "")
	s := o.Stream("news", 0, 0, 1, 2)
	here, there := o.Session(1), o.Session(0)
	here.Subscribe("paint.room", "other")
	time.Sleep(time.Second) // of load before
	killed := time.Now()
	o.Nodes[1].Kill(t)
	reaches(o, there, "other", here)
	t.Logf("the edge of the killed server has messages again after %v", time.Since(killed))
	var token string
	o.Edges[1].Poll("a token to be issued", func() bool {
		answer := o.Edges[1].Rest("POST", "/v1/get-token", o.Edges[1].Master, harness.TokenRequest(harness.AllowAll("room")))
		var got harness.Issued
		token = ""
		if answer.Status == http.StatusOK && json.Unmarshal(answer.Body, &got) == nil {
			token = got.Token
		}
		return token != ""
	})
	t.Logf("tokens can be issued after %v", time.Since(killed))
	time.Sleep(time.Second) // of load after
	sent, heard := end(s, t)
	for at, list := range heard {
		t.Logf("edge %d: %s", at, describe(sent, list))
	}
	for _, at := range []int{0, 2} {
		if len(heard[at]) != sent {
			t.Errorf("edge %d lost %d messages, whose servers live", at, sent-len(heard[at]))
		}
	}
	one := *o
	one.Token = token
	one.Session(2).Ping()
}

// The death of an edge takes it off the list of edges, and messages for one
// connection go to others.
func TestKilledEdge(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t, Nodes: harness.StartNATS(t, 3)}
	for i, join := range harness.Joining(o.Nodes, "") {
		options := []harness.Option{join, func(e *harness.Edge) {
			e.Broker = strings.TrimSuffix(e.Broker, "}") + fmt.Sprintf("announce e%d.example.com\n}", i)
		}}
		if i > 0 {
			options = append(options, harness.WithMaster(o.Edges[0]))
		}
		o.Edges = append(o.Edges, harness.StartEdge(t, overlayCaddyfile, options...))
	}
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	awaitEdges(o, 0, 0, 1, 2)
	awaitEdges(o, 2, 0, 1, 2)

	jobs := o.Spread("jobs", "jobs", 1, 1, 1)
	s := o.Stream("news", 0, 0, 2)
	const messages = 1000
	p := o.Session(0)
	var killed time.Time
	for i := range messages {
		if i == messages/2 {
			killed = time.Now()
			o.Edges[1].Kill()
		}
		p.PublishTagged(wire.OneRandom, "paint.room", "jobs", strconv.Itoa(i))
		time.Sleep(2 * time.Millisecond) // a load, not a wait
	}
	p.Publish("paint.room", "jobs", "end")
	got := 0
	for at := range jobs {
		for {
			_, frame, err := jobs[at][0].Read()
			if err != nil && at == 1 {
				break // it died
			}
			jobs[at][0].Must(err)
			if string(harness.PayloadOf(frame)) == "end" {
				break
			}
			got++
		}
	}
	t.Logf("of %d messages for one connection %d were lost with the edge", messages, messages-got)
	if lost := messages - got; harness.Soaking && lost > messages/10 { // how many depends on the machine
		t.Errorf("%d of %d messages were lost with the edge", lost, messages)
	}
	awaitEdges(o, 0, 0, 2)
	t.Logf("the edge is off the list after %v", time.Since(killed))
	live := [][]*harness.Socket{jobs[0], jobs[2]}
	for _, list := range live {
		list[0].UntilFence()
	}
	collectNumbers(t, live, messages/5, func() { // none is lost any more
		for i := range messages / 5 {
			p.PublishTagged(wire.OneRandom, "paint.room", "jobs", strconv.Itoa(i))
		}
	})
	sent, heard := end(s, t)
	for i, list := range heard {
		if len(list) != sent {
			t.Errorf("listener %d lost %d messages", i, sent-len(list))
		}
		t.Logf("listener %d: %s", i, describe(sent, list))
	}

	o.Edges[2].Terminate() // which drains
	awaitEdges(o, 0, 0)
}

// awaitEdges waits until an edge lists these.
func awaitEdges(o *harness.Overlay, at int, want ...int) {
	o.T.Helper()
	var hosts []string
	for _, i := range want {
		hosts = append(hosts, fmt.Sprintf("e%d.example.com", i))
	}
	o.Edges[at].Poll(fmt.Sprintf("its list to have %v", hosts), func() bool {
		var listed []string
		for _, e := range o.Listed(at) {
			listed = append(listed, e.Host)
		}
		return slices.Equal(listed, hosts)
	})
}
