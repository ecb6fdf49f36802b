package takeover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/quic-go/quic-go/http3"
)

func TestQuiesce(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	g := newGeneration(t, address, "one", a.ServeHTTP)
	g.start(t)
	c := connect(t, address)
	c.expect(t, "acceptor")
	_, session, err := open(t, address)
	must(t, err)
	take(t, a.sessions)
	if got, want := g.Quiesce(), []string{"udp/" + address.JoinHostPort(0)}; !slices.Equal(got, want) {
		t.Errorf("%v is closing, want %v", got, want)
	}
	if closing := g.Quiesce(); closing != nil {
		t.Errorf("once more, %v is closing", closing)
	}
	connect(t, address).expect(t, "acceptor") // who comes late is answered, too
	c.expect(t, "acceptor")
	if err := context.Cause(session.Context()); err != nil {
		t.Errorf("the session ended: %v", err)
	}
	req, err := http.NewRequest(http.MethodConnect, c.base+"/wt", nil)
	must(t, err)
	res, err := c.RoundTrip(req)
	must(t, err)
	res.Body.Close()
	if err := take(t, a.refused); !errors.Is(err, ErrClosing) {
		t.Errorf("a new session: %v", err)
	}
}

// TestClose closes while a session is open and a request under way: that is
// answered, and then the clients are told.
func TestClose(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	arrived, proceed := make(chan struct{}), make(chan struct{})
	g := newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(arrived)
			<-proceed
		}
		a.ServeHTTP(w, r)
	})
	g.start(t)
	_, session, err := open(t, address)
	must(t, err)
	take(t, a.sessions)
	c := connect(t, address)
	answered := make(chan error, 1)
	go func() {
		body, err := c.get("/slow")
		if body != "acceptor" {
			err = errors.Join(err, errors.New("the answer was "+body))
		}
		answered <- err
	}()
	take(t, arrived)
	g.Quiesce()
	closed := make(chan error, 1)
	go func() { closed <- g.Close(testTimeout) }()
	select {
	case err := <-closed:
		t.Fatalf("closed before the request was answered: %v", err)
	case <-time.After(2 * lingerTimeout):
	}
	close(proceed)
	noError(t, take(t, answered))
	noError(t, take(t, closed))
	take(t, c.quic.Context().Done())
	expectCode(t, c.quic, http3.ErrCodeNoError)
	take(t, session.Context().Done())
	// Nobody else could bind the port as long as a socket is open.
	free, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(address.StartPort)})
	must(t, err)
	free.Close()
}

// TestCloseCutsOff closes while a request takes longer than the port waits.
func TestCloseCutsOff(t *testing.T) {
	address := unused(t)
	arrived := make(chan struct{})
	g := newGeneration(t, address, "one", func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	})
	g.start(t)
	c := connect(t, address)
	answered := make(chan error, 1)
	go func() {
		_, err := c.get("/")
		answered <- err
	}()
	take(t, arrived)
	g.Quiesce()
	g.claims[0].gracePeriod = 10 * time.Millisecond // goes before what Close is told
	closed := make(chan error, 1)
	go func() { closed <- g.Close(time.Hour) }()
	noError(t, take(t, closed))
	if err := take(t, answered); err == nil {
		t.Error("a request that was cut off has an answer")
	}
}

// A port that closes waits for requests to our handlers less long than for those to others.
func TestCloseCutsOffOwn(t *testing.T) {
	address := unused(t)
	arrived, proceed := make(chan struct{}, 2), make(chan struct{})
	g := newGeneration(t, address, "one", func(w http.ResponseWriter, r *http.Request) {
		end := proceed
		if entry, ok := EntryOf(r); ok && r.URL.Path == "/own" {
			defer entry.Own()()
			end = nil
		}
		arrived <- struct{}{}
		select {
		case <-end:
			fmt.Fprint(w, "others")
		case <-r.Context().Done():
		}
	})
	g.start(t)
	g.leases[0].port.ownGrace = time.Millisecond
	own, others := make(chan string, 1), make(chan string, 1)
	for path, answered := range map[string]chan string{"/own": own, "/others": others} {
		c := connect(t, address)
		go func() {
			body, _ := c.get(path)
			answered <- body
		}()
	}
	for range 2 {
		take(t, arrived)
	}
	g.Quiesce()
	closed := make(chan error, 1)
	go func() { closed <- g.Close(time.Hour) }()
	select {
	case err := <-closed:
		t.Fatalf("closed before a request to others was answered: %v", err)
	case <-time.After(lingerTimeout):
	}
	close(proceed)
	noError(t, take(t, closed))
	if got := take(t, others); got != "others" {
		t.Errorf("the request to others was answered %q", got)
	}
	if got := take(t, own); got != "" {
		t.Errorf("the request to ours was answered %q", got)
	}
}
