package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"
)

// Each server of a cluster gets a call of the JetStream API, and the leader answers. But a
// replica that believes that there is no leader answers, too, and the one nearest to the edge
// does so first: one whose state is stuck after a partition would hide the leader for minutes.
// And one that was frozen, or cut off, still believes that it leads. So an edge waits for an
// answer of the leader, which the others do not end.

const (
	// maxAnswers is how many answers to a call are kept: more than servers that hold a bucket.
	maxAnswers = 8
	// leaderTime is how long the leader's answer may come after that of another server. If
	// there was no leader, only another call may find one.
	leaderTime = time.Second
)

// errNoLeader says that only servers answered that do not lead the bucket.
var errNoLeader = errors.New("no leader of the bucket answers")

// answers are the calls that wait for answers.
type answers struct {
	conn   *client.Conn
	prefix string // of the subjects of answers

	mu      sync.Mutex
	last    uint64 // the number of the last call
	waiting map[uint64]chan *client.Msg
}

// listen subscribes to the answers.
func (a *answers) listen(conn *client.Conn) error {
	a.conn, a.prefix, a.waiting = conn, conn.NewInbox()+".", map[uint64]chan *client.Msg{}
	_, err := conn.Subscribe(a.prefix+"*", a.take)
	return err
}

// take hands an answer to its call, if that still waits.
func (a *answers) take(m *client.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, a.prefix), 10, 64)
	if err != nil {
		return
	}
	a.mu.Lock()
	to := a.waiting[number]
	a.mu.Unlock()
	select {
	case to <- m: // nil: nobody waits
	default:
	}
}

// begin notes a call, and returns the subject and the channel of its answers.
func (a *answers) begin() (number uint64, reply string, list <-chan *client.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	to := make(chan *client.Msg, maxAnswers)
	a.waiting[a.last] = to
	return a.last, a.prefix + strconv.FormatUint(a.last, 10), to
}

func (a *answers) end(number uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, number)
}

// call makes a call, and calls read with each answer until that returns something else than
// an errNoLeader, until ctx ends, or for leaderTime after the first one.
func (a *answers) call(ctx context.Context, subject string, request []byte, read func(answer []byte) error) error {
	number, reply, list := a.begin()
	defer a.end(number)
	if err := a.conn.PublishMsg(&client.Msg{Subject: subject, Reply: reply, Data: request}); err != nil {
		return err
	}
	var refused error
	var late <-chan time.Time
	for {
		select {
		case m := <-list:
			if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
				return client.ErrNoResponders
			}
			err := read(m.Data)
			if !errors.Is(err, errNoLeader) {
				return err
			}
			if refused = err; late == nil {
				late = time.After(leaderTime)
			}
		case <-late:
			return refused
		case <-ctx.Done():
			if refused != nil {
				return fmt.Errorf("%w: %w", refused, ctx.Err())
			}
			return ctx.Err()
		}
	}
}
