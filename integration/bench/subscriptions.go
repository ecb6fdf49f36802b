package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
)

// A subscriptionRow is the cost of distinct patterns: each on only one connection, so that
// with NATS each is an interest of its own.
type subscriptionRow struct {
	Server      string `json:"server"`
	Connections int    `json:"connections"`
	Each        int    `json:"patterns_of_each"`

	// In the order of rounds; of one subscription.
	Seconds   []float64 `json:"seconds"`           // with as many clients at a time as subscribing, each of which waits for its OK
	Heap      []float64 `json:"heap_bytes"`        // growth of the edge's live heap
	ServerRSS []float64 `json:"nats_server_bytes"` // growth of the nats-server's resident memory
	Void      []string  `json:"void,omitempty"`
}

// subscribing is how many clients subscribe at the same time.
const subscribing = 64

// subscriptions measures an edge without and one with NATS, in turns.
func (r *runner) subscriptions(ctx context.Context) error {
	rows := []subscriptionRow{{Server: millrace}, {Server: millraceNATS}}
	for round := range r.scale.Rounds {
		for i := range rows {
			row := &rows[i]
			if !slices.Contains(r.Servers, row.Server) {
				continue
			}
			row.Connections, row.Each = r.scale.SubscriptionConnections, r.scale.SubscriptionsEach
			if err := r.subscribe(ctx, row); err != nil {
				if ctx.Err() != nil {
					return err
				}
				row.Void = append(row.Void, err.Error())
			}
			fmt.Fprintf(r.log, "round %d of %d  %s\n", round+1, r.scale.Rounds, row)
		}
	}
	for _, row := range rows {
		if row.Connections > 0 {
			r.report.Subscriptions = append(r.report.Subscriptions, row)
		}
	}
	return nil
}

// subscribe runs one round.
func (r *runner) subscribe(ctx context.Context, row *subscriptionRow) error {
	var o edgeOptions
	var core *child
	if row.Server == millraceNATS {
		c, at, err := startServer(ctx, r.serving, natsCore, false)
		if err != nil {
			return err
		}
		defer c.stop()
		core, o.Broker = c, "nats "+at.URL
	}
	e, err := r.startEdge(ctx, o)
	if err != nil {
		return err
	}
	defer e.kill() // its clients have vanished
	to, err := e.reach(ctx, overPlain, tenant, 0, 0)
	if err != nil {
		return err
	}
	conns, err := dialAll(ctx, to.driver(), row.Connections)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	if err != nil {
		return err
	}
	heapBefore, err := e.liveHeap(ctx)
	if err != nil {
		return err
	}
	coreBefore := residentBytes(core)
	began := time.Now()
	err = all(ctx, len(conns), func(i int) error {
		for k := range row.Each {
			if err := conns[i].Subscribe(fmt.Sprintf("s%d.%d.*", i, k)); err != nil {
				return err
			}
		}
		return nil
	})
	took := time.Since(began)
	if err != nil {
		return err
	}
	heap, err := e.liveHeap(ctx)
	if err != nil {
		return err
	}
	n := float64(row.Connections * row.Each)
	row.Seconds = append(row.Seconds, took.Seconds()/n)
	row.Heap = append(row.Heap, float64(heap-heapBefore)/n)
	row.ServerRSS = append(row.ServerRSS, float64(residentBytes(core)-coreBefore)/n)
	return nil
}

func dialAll(ctx context.Context, d loadgen.Driver, n int) ([]loadgen.Conn, error) {
	conns := make([]loadgen.Conn, n)
	err := all(ctx, n, func(i int) (err error) {
		conns[i], err = d.Dial(ctx)
		return err
	})
	return slices.DeleteFunc(conns, func(c loadgen.Conn) bool { return c == nil }), err
}

// all calls do for each number below n, a few at a time, and returns the first error.
func all(ctx context.Context, n int, do func(i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	numbers := make(chan int)
	var working sync.WaitGroup
	for range subscribing {
		working.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case numbers <- i:
		case <-ctx.Done():
		}
	}
	close(numbers)
	working.Wait()
	return context.Cause(ctx)
}

// residentBytes reads proc_pid_statm(5); 0 without a process, or where there is
// no such file.
func residentBytes(c *child) int64 {
	if c == nil {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.pid()))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	pages, _ := strconv.ParseInt(fields[1], 10, 64) // the kernel writes numbers
	return pages * int64(os.Getpagesize())
}

// String is like "millrace-nats: 100,000 patterns over 1,000 connections: 12.3 µs
// and 1.21 KiB each, and 0.52 KiB in nats-server".
func (row *subscriptionRow) String() string {
	if len(row.Void) > 0 || len(row.Seconds) == 0 {
		return fmt.Sprintf("%s: void %q", row.Server, row.Void)
	}
	text := fmt.Sprintf("%s: %s patterns over %s connections: %s µs (%s–%s) and %s bytes each", row.Server,
		loadgen.Thousands(int64(row.Connections*row.Each)), loadgen.Thousands(int64(row.Connections)),
		significant(median(row.Seconds)*1e6), significant(slices.Min(row.Seconds)*1e6), significant(slices.Max(row.Seconds)*1e6),
		significant(median(row.Heap)))
	if row.Server == millraceNATS {
		text += fmt.Sprintf(", and about %s in nats-server", significant(median(row.ServerRSS)))
	}
	return text
}
