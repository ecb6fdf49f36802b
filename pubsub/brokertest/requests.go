package brokertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// requesters returns the brokers as what carries requests, when each knows the others;
// nil: they carry none.
func (o *overlay) requesters() (list []pubsub.Requester) {
	for _, b := range o.brokers {
		r, ok := b.(pubsub.Requester)
		if !ok {
			return nil
		}
		list = append(list, r)
	}
	for i, r := range list {
		o.await(fmt.Sprintf("the members that edge %d knows", i), func() bool { return len(r.Members()) == len(list) })
	}
	return list
}

// echo has each edge answer a request with its own ID, the asker's, and the body.
func echo(list []pubsub.Requester) {
	for _, r := range list {
		own := r.Members()[0].ID
		r.HandleRequests(func(_ context.Context, from pubsub.Member, body []byte) []byte {
			return fmt.Appendf(nil, "%s %s %s", own, from.ID, body)
		})
	}
}

// within limits a request.
func within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), d)
}

func members(o *overlay) {
	list := o.requesters()
	ids := map[string]bool{}
	for i, r := range list {
		all := r.Members()
		ids[all[0].ID] = true
		for j, m := range all {
			if m.State != pubsub.MemberHere || m.SeenAt.IsZero() != (j == 0) || len(m.ID) != 16 || strings.Trim(m.ID, "0123456789abcdef") != "" {
				o.Errorf("edge %d: member %d is %+v", i, j, m)
			}
			if j > 1 && all[j-1].ID >= m.ID {
				o.Errorf("edge %d: the others are not in the order of their IDs: %v", i, all)
			}
		}
	}
	if len(ids) != len(list) {
		o.Errorf("%d edges have the IDs %v", len(list), ids)
	}
	for i, r := range list {
		for _, m := range r.Members() {
			if !ids[m.ID] {
				o.Errorf("edge %d knows %+v, which is not an edge", i, m)
			}
		}
	}
	for i, r := range list {
		d, ok := r.(pubsub.Directory)
		if !ok {
			continue
		}
		d.Announce(pubsub.Edge{Host: fmt.Sprintf("%d.example.com", i), Region: "r"})
		d.SetDraining(true)
	}
	for i, r := range list {
		if _, ok := r.(pubsub.Directory); !ok {
			continue
		}
		o.await(fmt.Sprintf("what edge %d hears of the others", i), func() bool {
			for _, m := range r.Members() {
				if m.State != pubsub.MemberDraining || !strings.HasSuffix(m.Host, ".example.com") || m.Region != "r" {
					return false
				}
			}
			return true
		})
	}
}

func requests(o *overlay) {
	list := o.requesters()
	echo(list)
	for i, r := range list {
		own := r.Members()[0].ID
		for _, m := range r.Members()[1:] {
			ctx, cancel := within(eventTimeout)
			body := fmt.Appendf(nil, "from edge %d", i)
			got, err := r.Request(ctx, m.ID, body)
			cancel()
			if want := fmt.Sprintf("%s %s from edge %d", m.ID, own, i); err != nil || string(got) != want {
				o.Errorf("got %q, %v, want %q", got, err, want)
			}
		}
	}
	for i, r := range list {
		r.HandleRequests(func(_ context.Context, _ pubsub.Member, body []byte) []byte {
			return bytes.Repeat(body, pubsub.MaxAnswer/pubsub.MaxRequest)
		})
		asker := list[(i+1)%len(list)]
		for _, size := range []int{0, 1, pubsub.MaxRequest} {
			body := bytes.Repeat([]byte("x"), size)
			got, err := asker.Request(context.Background(), r.Members()[0].ID, body) // waits a bounded time
			if want := size * (pubsub.MaxAnswer / pubsub.MaxRequest); err != nil || len(got) != want {
				o.Errorf("%d bytes for a request of %d, %v; want %d", len(got), size, err, want)
			}
		}
	}
}

func unanswered(o *overlay) {
	list := o.requesters()
	if list == nil {
		return
	}
	asker, other := list[0], list[1]
	own, id := asker.Members()[0].ID, other.Members()[0].ID
	ask := func(to string, body []byte, want ...error) {
		o.Helper()
		ctx, cancel := within(eventTimeout)
		defer cancel()
		got, err := asker.Request(ctx, to, body)
		for _, w := range want {
			if !errors.Is(err, w) || got != nil || ctx.Err() != nil {
				o.Errorf("a request to %q: %.20q, %v, want %v", to, got, err, w)
			}
		}
	}
	ask(id, nil, pubsub.ErrNoAnswer) // nobody answers requests there
	echo(list)
	for _, unknown := range []string{"", "0000000000000000", "0123456789abcdef", "x", id[:15], id + "0", own} {
		ask(unknown, nil, pubsub.ErrUnknownEdge)
	}
	ask(id, make([]byte, pubsub.MaxRequest+1), pubsub.ErrRequestTooLarge)
	other.HandleRequests(func(context.Context, pubsub.Member, []byte) []byte { return make([]byte, pubsub.MaxAnswer+1) })
	ask(id, nil, pubsub.ErrNoAnswer)
	other.HandleRequests(nil)
	ask(id, nil, pubsub.ErrNoAnswer)

	began, ended := make(chan struct{}), make(chan struct{})
	begin, end := sync.OnceFunc(func() { close(began) }), sync.OnceFunc(func() { close(ended) })
	other.HandleRequests(func(ctx context.Context, _ pubsub.Member, _ []byte) []byte {
		begin()
		<-ctx.Done() // with the broker, if not before
		end()
		return nil
	})
	ctx, cancel := within(eventTimeout)
	go func() { // ends with the request
		<-began
		cancel()
	}()
	if got, err := asker.Request(ctx, id, nil); !errors.Is(err, pubsub.ErrNoAnswer) || !errors.Is(err, context.Canceled) || got != nil {
		o.Errorf("a request that ended: %q, %v", got, err)
	}
	if _, err := asker.Request(ctx, id, nil); !errors.Is(err, pubsub.ErrNoAnswer) || !errors.Is(err, context.Canceled) {
		o.Errorf("a request that had ended before: %v", err)
	}
	if err := o.brokers[1].Close(); err != nil {
		o.Fatal(err)
	}
	select {
	case <-ended:
	default:
		o.Error("Close does not wait for an answer that is being made")
	}
	if _, err := other.Request(context.Background(), own, nil); err == nil {
		o.Error("a closed broker's request is answered")
	}
	o.await("the end of an edge to be known", func() bool { return len(asker.Members()) == len(list)-1 })
	ask(id, nil, pubsub.ErrUnknownEdge)
}

// Answers go to the request that they belong to.
func concurrentRequests(o *overlay) {
	list := o.requesters()
	echo(list)
	var wg sync.WaitGroup
	for i, r := range list {
		all := r.Members()
		for _, m := range all[1:] {
			for g := range 2 {
				wg.Go(func() {
					for n := range 100 {
						body := fmt.Sprintf("%d %d %d", i, g, n)
						ctx, cancel := within(eventTimeout)
						got, err := r.Request(ctx, m.ID, []byte(body))
						cancel()
						if want := fmt.Sprintf("%s %s %s", m.ID, all[0].ID, body); err != nil || string(got) != want {
							o.Errorf("got %q, %v, want %q", got, err, want)
						}
					}
				})
			}
		}
	}
	wg.Wait()
}
