package sdks

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/testcheck"
)

// What becomes of each job of docs/how-to/work-queues.md: a worker has as many as its queue has room for, and
// reads none of them yet; the others go to another one, or are refused. Then it is killed, reads at last,
// unsubscribes or drains.
func workQueues(s *stage) {
	for _, fate := range []string{"killed", "slow", "unsubscribes", "drains"} {
		if fate == "killed" && s.Kind.InBrowser() {
			continue // the driver is a page of a browser with others
		}
		s.T.Run(fate, func(t *testing.T) {
			s := &stage{s.Lab.Stage(t, s.Kind, s.Edges...)}
			q := &queue{stage: s, publisher: s.Connect(sdk.Options{})}
			q.give(1, "no_subscriber")
			worker, kill := s.Client(), func() {}
			if fate == "killed" {
				worker, kill = s.mortal()
			}
			worker.Must(s.Connecting(s.Kind, sdk.Options{}))
			jobs := worker.SubscribeAs("held", s.Tenant, "work.*", &sdk.Options{Queue: 4})
			s.poll("credit", func() bool { return q.try() == "" })
			q.give(3, "")
			q.give(2, "subscribers_busy")
			others := s.Connect(sdk.Options{}).Subscribe(s.Tenant, "work.*")
			s.poll("the other worker", func() bool { return q.try() == "" })
			q.give(3, "")

			var drained int
			switch fate {
			case "killed":
				kill()
			case "slow":
				jobs.Do("read")
			case "unsubscribes":
				jobs.Do("unsubscribe")
				if e := worker.Event("discarded"); e.Count != 4 || e.Tenant != s.Tenant || e.Pattern != "work.*" {
					t.Errorf("got %v, want that 4 jobs were thrown away", e)
				}
			case "drains":
				drained = worker.Tell(sdk.Command{Cmd: "drain", Sub: jobs.Name})
				jobs.Do("read")
			}
			if fate == "slow" || fate == "drains" {
				q.want(jobs, q.taken[:4])
			}
			if fate == "drains" {
				if r := worker.Answer(drained, "drain"); r.Error != nil {
					t.Errorf("draining: %v", r.Error)
				}
				jobs.WantEnd("")
			}
			if fate != "slow" { // its jobs go to the other one from now on
				q.give(5, "")
			}
			q.want(others, q.taken[4:])
			if fate != "killed" {
				jobs.WantNone()
				worker.Never("queueFull", "slowConsumer", "disconnected")
			}
			others.WantNone()
		})
	}
}

// queue is jobs that are numbers.
type queue struct {
	*stage
	publisher *sdk.Client
	said      int
	taken     []string // those that a worker took, as the publisher knows
}

// try publishes the next job, and returns the code of its refusal.
func (q *queue) try() string {
	q.T.Helper()
	q.said++
	job := strconv.Itoa(q.said)
	_, err := q.publisher.Try(sdk.Command{
		Cmd: "publish", Tenant: q.Tenant, Channel: "work.a", Payload: []byte(job), Delivery: "one-random", Confirm: true,
	})
	if err == nil {
		q.taken = append(q.taken, job)
	}
	return err.ErrorCode()
}

func (q *queue) give(n int, code string) {
	q.T.Helper()
	for range n {
		if got := q.try(); got != code {
			q.T.Fatalf("%s: job %d is answered %q, want %q", q.Kind, q.said, got, code)
		}
	}
}

// want requires these jobs, in their order.
func (q *queue) want(sub *sdk.Sub, jobs []string) {
	q.T.Helper()
	var got []string
	for range jobs {
		got = append(got, string(sub.Next().Payload))
	}
	if !slices.Equal(got, jobs) {
		q.T.Errorf("%s: got the jobs %s, want %s", q.Kind, strings.Join(got, " "), strings.Join(jobs, " "))
	}
}

// mortal is a client in a driver of its own, and what kills that.
func (s *stage) mortal() (*sdk.Client, func()) {
	s.T.Helper()
	cmd, err := sdk.Programs[s.Kind.Where].Command()
	testcheck.Must(s.T, err)
	var c *sdk.Client
	d, _, err := sdk.StartDriver(cmd, s.Edges[0].RootFile(), sdk.Limit, func(r sdk.Report) error { return c.Accept(r) }, func(error) {})
	testcheck.Must(s.T, err)
	c = sdk.NewClient(s.T, "mortal", s.Kind, d)
	s.T.Cleanup(func() { _ = d.End() }) // it fails, as it was killed
	return c, func() {
		testcheck.Must(s.T, cmd.Process.Signal(os.Kill))
		_ = d.End()
	}
}
