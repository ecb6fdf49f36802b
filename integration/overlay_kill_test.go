package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

// stamped is when a message was published, and when it came.
type stamped struct {
	n    int
	late time.Duration
}

// stream publishes a number each few milliseconds at one edge, and notes what
// comes at others, until it is stopped.
type stream struct {
	stop  chan struct{}
	sent  chan int
	heard []chan []stamped
}

// beat is a message that a listener of a stream does not count.
const beat = "beat"

const streamEvery = 5 * time.Millisecond

func (o *overlay) stream(channel string, from int, to ...int) *stream {
	o.t.Helper()
	counts := make([]int, len(o.edges))
	for _, at := range to {
		counts[at]++
	}
	sessions := o.spread(channel, channel, counts...)
	s := &stream{stop: make(chan struct{}), sent: make(chan int, 1)}
	for _, at := range to {
		heard := make(chan []stamped, 1)
		s.heard = append(s.heard, heard)
		l := sessions[at][0].link
		go func() { // ends with the end of the stream, the session, or the link's timeout
			var list []stamped
			for {
				_, frame, err := l.read()
				text := string(payloadOf(frame))
				if err != nil || text == "end" {
					heard <- list
					return
				}
				if text == beat {
					continue
				}
				number, at, _ := strings.Cut(text, " ")
				n, _ := strconv.Atoi(number)
				sent, _ := strconv.ParseInt(at, 10, 64)
				list = append(list, stamped{n, time.Since(time.Unix(0, sent))})
			}
		}()
	}
	p := o.session(from)
	go func() { // ends with stop
		tick := time.NewTicker(streamEvery)
		defer tick.Stop()
		n := 0
		for ; ; n++ {
			text := "end"
			select {
			case <-s.stop:
			case <-tick.C:
				text = fmt.Sprintf("%d %d", n, time.Now().UnixNano())
			}
			if p.write(asFrame, wire.AppendPublish(nil, wire.Publish{
				Tenant: []byte("paint.room"), Channel: []byte(channel), Payload: []byte(text),
			})) != nil || text == "end" {
				s.sent <- n
				return
			}
		}
	}()
	return s
}

// end stops the stream. Of each listener it returns what it heard, and requires
// that nothing came twice or in another order.
func (s *stream) end(t *testing.T) (sent int, heard [][]stamped) {
	t.Helper()
	close(s.stop)
	sent = <-s.sent
	for i, c := range s.heard {
		list := <-c
		for k := range list[1:] {
			if list[k+1].n <= list[k].n {
				t.Errorf("listener %d: %d came after %d", i, list[k+1].n, list[k].n)
			}
		}
		heard = append(heard, list)
	}
	return sent, heard
}

// describe says what a listener lost, and how late the rest was.
func describe(sent int, list []stamped) string {
	var late []time.Duration
	gap, before := 0, -1
	for _, s := range list {
		late = append(late, s.late)
		gap = max(gap, s.n-before-1)
		before = s.n
	}
	slices.Sort(late)
	return fmt.Sprintf("lost %d of %d, at most %d in a row (%v); p50 %v, p99 %v, max %v", sent-len(list), sent, gap,
		time.Duration(gap)*streamEvery, late[len(late)/2], late[len(late)*99/100], late[len(late)-1])
}

// The death of a NATS server costs messages for as long as its edge needs to find
// another one. Nobody else notices.
func TestKilledNode(t *testing.T) {
	t.Parallel()
	o := startOverlay(t, overlayCaddyfile, "")
	s := o.stream("news", 0, 0, 1, 2)
	here, there := o.session(1), o.session(0)
	here.subscribe("paint.room", "other")
	time.Sleep(time.Second) // of load before
	killed := time.Now()
	o.nodes[1].Kill(t)
	o.reaches(there, "other", here)
	t.Logf("the edge of the killed server has messages again after %v", time.Since(killed))
	var token string
	o.edges[1].poll("a token to be issued", func() bool {
		answer := o.edges[1].rest("POST", "/v1/get-token", o.edges[1].master, tokenRequest(allowAll("room")))
		var got issued
		token = ""
		if answer.Status == http.StatusOK && json.Unmarshal(answer.Body, &got) == nil {
			token = got.Token
		}
		return token != ""
	})
	t.Logf("tokens can be issued after %v", time.Since(killed))
	time.Sleep(time.Second) // of load after
	sent, heard := s.end(t)
	for at, list := range heard {
		t.Logf("edge %d: %s", at, describe(sent, list))
	}
	for _, at := range []int{0, 2} {
		if len(heard[at]) != sent {
			t.Errorf("edge %d lost %d messages, whose servers live", at, sent-len(heard[at]))
		}
	}
	one := *o
	one.token = token
	one.session(2).ping()
}

// The death of an edge takes it off the list of edges, and messages for one
// connection go to others.
func TestKilledEdge(t *testing.T) {
	t.Parallel()
	o := &overlay{t: t, nodes: startNATS(t, 3)}
	for i, join := range joining(o.nodes, "") {
		options := []option{join, func(e *edge) {
			e.Broker = strings.TrimSuffix(e.Broker, "}") + fmt.Sprintf("announce e%d.example.com\n}", i)
		}}
		if i > 0 {
			options = append(options, withMaster(o.edges[0]))
		}
		o.edges = append(o.edges, startEdge(t, overlayCaddyfile, options...))
	}
	o.token = o.edges[0].issue(allowAll("room")).Token
	o.awaitEdges(0, 0, 1, 2)
	o.awaitEdges(2, 0, 1, 2)

	jobs := o.spread("jobs", "jobs", 1, 1, 1)
	s := o.stream("news", 0, 0, 2)
	const messages = 1000
	p := o.session(0)
	var killed time.Time
	for i := range messages {
		if i == messages/2 {
			killed = time.Now()
			o.edges[1].kill()
		}
		p.publishTagged(wire.OneRandom, "paint.room", "jobs", strconv.Itoa(i))
		time.Sleep(2 * time.Millisecond) // a load, not a wait
	}
	p.publish("paint.room", "jobs", "end")
	got := 0
	for at := range jobs {
		for {
			_, frame, err := jobs[at][0].read()
			if err != nil && at == 1 {
				break // it died
			}
			jobs[at][0].must(err)
			if string(payloadOf(frame)) == "end" {
				break
			}
			got++
		}
	}
	t.Logf("of %d messages for one connection %d were lost with the edge", messages, messages-got)
	if lost := messages - got; soaking && lost > messages/10 { // how many depends on the machine
		t.Errorf("%d of %d messages were lost with the edge", lost, messages)
	}
	o.awaitEdges(0, 0, 2)
	t.Logf("the edge is off the list after %v", time.Since(killed))
	live := [][]*socket{jobs[0], jobs[2]}
	for _, list := range live {
		list[0].untilFence()
	}
	collectNumbers(t, live, messages/5, func() { // none is lost any more
		for i := range messages / 5 {
			p.publishTagged(wire.OneRandom, "paint.room", "jobs", strconv.Itoa(i))
		}
	})
	sent, heard := s.end(t)
	for i, list := range heard {
		if len(list) != sent {
			t.Errorf("listener %d lost %d messages", i, sent-len(list))
		}
		t.Logf("listener %d: %s", i, describe(sent, list))
	}

	o.edges[2].terminate() // which drains
	o.awaitEdges(0, 0)
}

// awaitEdges waits until an edge lists these.
func (o *overlay) awaitEdges(at int, want ...int) {
	o.t.Helper()
	var hosts []string
	for _, i := range want {
		hosts = append(hosts, fmt.Sprintf("e%d.example.com", i))
	}
	o.edges[at].poll(fmt.Sprintf("its list to have %v", hosts), func() bool {
		var listed []string
		for _, e := range o.listed(at) {
			listed = append(listed, e.Host)
		}
		return slices.Equal(listed, hosts)
	})
}

type listedEdge struct{ Host, Region string }

// listed returns the edges that an edge lists.
func (o *overlay) listed(at int) []listedEdge {
	o.t.Helper()
	answer := o.edges[at].do(call{Method: "GET", URL: o.edges[at].httpURL("/edges")})
	var got struct{ Edges []listedEdge }
	answer.decode(o.t, http.StatusOK, &got)
	return got.Edges
}
