package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"time"
)

// httpClient is for requests to edges. It follows no redirect, which could lead
// a token elsewhere.
func httpClient(d dialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: d.plain,
			DialTLSContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				return d.secure(ctx, address, "h2", "http/1.1")
			},
			ForceAttemptHTTP2: true, IdleConnTimeout: 30 * time.Second, MaxIdleConnsPerHost: 4,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// probeGrace is how much longer than the first edge the others may take, beside
// the time that the first took once more.
const probeGrace = 250 * time.Millisecond

// probe measures all edges at once and returns them with the lowest latency
// first. Those that fail, and those that take long when another has answered,
// come last, in the order given. It waits for all its goroutines.
func probe(ctx context.Context, origins []string, measure func(context.Context, string) (time.Duration, error), limit time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type result struct {
		at      int
		latency time.Duration
		err     error
	}
	results := make(chan result)
	start := time.Now()
	for i, origin := range origins {
		go func() { // ends with ctx at the latest; awaited below
			latency, err := measure(ctx, origin)
			results <- result{i, latency, err}
		}()
	}
	latencies := make([]time.Duration, len(origins))
	var grace *time.Timer
	for range origins {
		r := <-results
		if r.err != nil {
			continue
		}
		latencies[r.at] = max(r.latency, 1)
		if grace == nil {
			grace = time.AfterFunc(time.Since(start)+probeGrace, cancel)
			defer grace.Stop()
		}
	}
	order := make([]int, len(origins))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		la, lb := latencies[a], latencies[b]
		switch {
		case la == lb:
			return 0
		case lb == 0 || la != 0 && la < lb:
			return -1
		default:
			return 1
		}
	})
	ranked := make([]string, len(origins))
	for i, at := range order {
		ranked[i] = origins[at]
	}
	return ranked
}

// ping3 asks three times and returns the median. The first includes the TLS
// handshake.
func ping3(ctx context.Context, client *http.Client, url string) (time.Duration, error) {
	var times [3]time.Duration
	for i := range times {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return 0, err
		}
		start := time.Now()
		res, err := client.Do(req)
		if err != nil {
			return 0, err
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxProblem)) // so that the connection is used again
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			return 0, &Error{Code: CodeUnreachable, Status: res.StatusCode}
		}
		times[i] = time.Since(start)
	}
	slices.Sort(times[:])
	return times[1], nil
}
