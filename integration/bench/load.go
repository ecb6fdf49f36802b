package main

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/millrace/millrace/integration/bench/peer"
	"github.com/millrace/millrace/internal/loadgen"
)

// The transports of a target.
const (
	overPlain        = "plain"
	overTLS          = "tls"
	overWebTransport = "webtransport"
)

// A target is a running server, and how to reach it.
type target struct {
	Server    string
	Transport string
	URL       string
	Tenant    string // Millrace alone, like the two below
	Token     string
	CAFile    string
	Cap       int // KB/s, of a connection

	Publish *target // where the publisher connects, if not here
}

func (t target) driver() loadgen.Driver {
	if t.Publish == nil {
		return t.connector()
	}
	return hopDriver{t.connector(), t.Publish.connector()}
}

func (t target) connector() loadgen.Driver {
	address := peer.Address{URL: t.URL}
	switch t.Server {
	case floorQueue, floorEach:
		return peer.Floor(address, nil)
	case floorEqual:
		return peer.Floor(address, deliverHead)
	case natsServer, natsPair:
		return peer.NATS(address)
	case mochiMQTT:
		return peer.MQTT(address)
	case socketIO:
		return peer.SocketIO(address)
	}
	return loadgen.EdgeDriver(loadgen.EdgeOptions{
		URL: t.URL, Token: t.Token, Tenant: t.Tenant, CAFile: t.CAFile, CapKBPerSec: t.Cap})
}

// A job is the task of a load process: this program as "load", a process for each run, so
// that no run inherits another's garbage. The job comes on standard input, which stays
// open as long as the process is needed, and the answers go to standard output, all in
// gob.
type job struct {
	Measure *measureJob
	Disturb *disturbJob
	Caps    []capJob
}

// measureJob is one run of the load generator.
type measureJob struct {
	Target  target
	Options loadgen.Options // gob omits Progress
}

// A loadAnswer is the result of a job. A disturbance answers twice: when it is set up, and
// at its end.
type loadAnswer struct {
	Result *loadgen.Result
	Caps   []capResult
	Did    effect // of a disturbance
	Error  string
}

// load runs the job that it reads.
func load(ctx context.Context, in io.Reader, out io.Writer) error {
	var j job
	if err := gob.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("reading the job: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with standard input, at the latest with the process
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	answers := gob.NewEncoder(out)
	var answer loadAnswer
	switch {
	case j.Measure != nil:
		result, err := loadgen.Run(ctx, j.Measure.Target.driver(), j.Measure.Options)
		answer.Result = result
		if err != nil {
			answer.Error = err.Error()
		}
	case j.Disturb != nil:
		var err error
		answer.Did, err = j.Disturb.run(ctx, func() error { return answers.Encode(loadAnswer{}) })
		if err != nil {
			answer.Error = err.Error()
		}
	case j.Caps != nil:
		answer.Caps = measureCaps(ctx, j.Caps)
	default:
		return errors.New("an empty job")
	}
	return answers.Encode(answer)
}

// A loader is a running load process.
type loader struct {
	*child
	answers chan loadAnswer // closed at the end of its output
}

// startLoad starts a load process with a job.
func startLoad(l *launcher, j job) (*loader, error) {
	cmd, err := self("load")
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = w
	c, err := l.startChild("the load generator", cmd)
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	p := &loader{child: c, answers: make(chan loadAnswer, 2)} // no job has more answers
	go func() {                                               // ends with the process
		defer close(p.answers)
		defer r.Close()
		answers := gob.NewDecoder(r)
		for {
			var a loadAnswer
			if answers.Decode(&a) != nil {
				return
			}
			p.answers <- a
		}
	}()
	if err := gob.NewEncoder(c.in).Encode(j); err != nil {
		c.kill()
		return nil, fmt.Errorf("%w; %w", err, c.failure())
	}
	return p, nil
}

// slack is how much longer a job may take than planned: for connections that open
// slowly, and messages that arrive slowly.
const slack = 3 * time.Minute

// answer returns the next answer, which should come within should.
func (p *loader) answer(ctx context.Context, should time.Duration) (loadAnswer, error) {
	limit := time.NewTimer(should + slack)
	defer limit.Stop()
	select {
	case a, ok := <-p.answers:
		if !ok {
			<-p.exited
			return a, p.failure()
		}
		return a, nil
	case <-limit.C:
		return loadAnswer{}, fmt.Errorf("the load generator has not answered for %v", should+slack)
	case <-ctx.Done():
		return loadAnswer{}, ctx.Err()
	}
}

// startServer starts a server that is not Millrace, and returns its address.
func startServer(ctx context.Context, l *launcher, name string, secure bool) (*child, target, error) {
	t := target{Server: name, Transport: overPlain}
	args := []string{"serve", name}
	if secure {
		t.Transport, args = overTLS, append(args, "tls")
	}
	cmd, err := self(args...)
	if name == socketIO {
		cmd = exec.Command("node", "../clients/socketio_server.mjs")
	}
	if err != nil {
		return nil, t, err
	}
	c, url, err := startAnnouncing(ctx, l, name, cmd)
	t.URL = url
	return c, t, err
}

// startAnnouncing starts a program that prints one line when it is ready.
func startAnnouncing(ctx context.Context, l *launcher, name string, cmd *exec.Cmd) (*child, string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	cmd.Stdout = w
	c, err := l.startChild(name, cmd)
	w.Close()
	if err != nil {
		return nil, "", err
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })
	defer stop()
	_ = r.SetReadDeadline(time.Now().Add(waitTimeout)) // pipes have deadlines on all systems on which we start programs
	var line string
	if _, err := fmt.Fscanln(r, &line); err != nil {
		c.kill()
		return nil, "", fmt.Errorf("%w: %w", c.failure(), err)
	}
	return c, line, nil
}
