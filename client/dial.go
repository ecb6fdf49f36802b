package client

import (
	"context"
	"errors"
	"sync"
	"time"
)

// attempt is the result of a try to connect over one transport.
type attempt struct {
	link      link
	transport Transport
	err       error
}

// race connects over the first transport, and over the next ones after pauses,
// or as soon as nothing else is under way. The first link is taken, later ones
// are closed; it returns without waiting for them, the group does. What judge
// says of a refusal ends the race or not. The error is that of the transport
// which says most.
func race(ctx context.Context, transports []Transport, pause time.Duration, group *sync.WaitGroup,
	dial func(ctx context.Context, t Transport) (link, error),
) (link, Transport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan attempt)
	over := make(chan struct{})
	defer close(over)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var (
		running int
		worst   error
	)
	for len(transports) > 0 || running > 0 {
		var next <-chan time.Time
		if len(transports) > 0 {
			next = timer.C
		}
		select {
		case <-next:
			t := transports[0]
			transports = transports[1:]
			running++
			group.Go(func() {
				l, err := dial(ctx, t)
				select {
				case results <- attempt{l, t, err}:
				case <-over:
					if l != nil {
						l.abort()
					}
				}
			})
			timer.Reset(pause)
		case a := <-results:
			running--
			if a.err == nil {
				return a.link, a.transport, nil
			}
			worst = worse(worst, a.err)
			v := judge(a.err)
			if v == noEdge && a.transport == WebTransport {
				v = tryTransport // a proxy may know WebSocket alone
			}
			if v != tryTransport && v != notThis {
				return nil, "", a.err
			}
			if running == 0 {
				timer.Reset(0)
			}
		}
	}
	return nil, "", worst
}

// worse returns what two transports that failed come to. One that is not allowed is
// final only if the other is not allowed either: it may come up later.
func worse(a, b error) error {
	if a == nil {
		return b
	}
	if judge(a) == notThis {
		a, b = b, a
	}
	if e, ok := a.(*Error); ok && judge(a) == tryTransport && judge(b) == notThis { //nolint:errorlint // links return nothing else
		both := *e
		both.Err = errors.Join(e.Err, b)
		return &both
	}
	return a
}
