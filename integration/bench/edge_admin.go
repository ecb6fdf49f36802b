package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
)

// reach returns how to reach the edge, with a new token; see [edge.token].
func (e *edge) reach(ctx context.Context, transport, tenant string, ingress, egress int) (target, error) {
	token, err := e.token(ctx, tenant, ingress, egress)
	return e.target(transport, tenant, token), err
}

// get calls Caddy's admin endpoint.
func (e *edge) get(ctx context.Context, path string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d%s", e.Admin, path), nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", path, res.Status)
	}
	return res.Body, nil
}

// liveHeap returns the size of the edge's heap after two collections, bytes; the first one
// only ages pooled buffers.
func (e *edge) liveHeap(ctx context.Context) (bytes int64, err error) {
	for range 2 {
		body, err := e.get(ctx, "/debug/pprof/heap?gc=1&debug=1")
		if err != nil {
			return 0, err
		}
		bytes, err = heapAlloc(body)
		body.Close()
		if err != nil {
			return 0, err
		}
	}
	return bytes, nil
}

// waited returns how many seconds messages of a tenant have waited for shares of the edge's processors; 0
// where the edge counts no tenants.
func (e *edge) waited(ctx context.Context, tenant string) (seconds float64, err error) {
	if e.Counted == 0 {
		return 0, nil
	}
	body, err := e.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	defer body.Close()
	series := fmt.Sprintf("millrace_tenant_share_wait_seconds_total{tenant=%q} ", tenant)
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), series); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(fmt.Errorf("the metrics have no %s", series), lines.Err())
}

// reload loads the edge's configuration again, and returns how many seconds that took.
func (e *edge) reload(ctx context.Context) (seconds float64, err error) {
	config, err := e.get(ctx, "/config/")
	if err != nil {
		return 0, err
	}
	defer config.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/load", e.Admin), config)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Cache-Control", "must-revalidate") // it is the same one
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("POST /load: %s", res.Status)
	}
	return time.Since(began).Seconds(), nil
}

// heapAlloc finds the figure in a profile in text form.
func heapAlloc(profile io.Reader) (int64, error) {
	lines := bufio.NewScanner(profile)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), "# HeapAlloc = "); ok {
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, errors.Join(errors.New("the heap profile has no HeapAlloc"), lines.Err())
}

// profile runs w=128 over each transport again, and records the edge's CPU time and
// allocations. These runs are slower, and not in the table.
func (r *runner) profile(ctx context.Context) error {
	if err := os.MkdirAll(r.Profile, 0o755); err != nil {
		return err
	}
	for _, transport := range []string{overPlain, overTLS, overWebTransport} {
		if err := r.profileOver(ctx, transport); err != nil {
			return fmt.Errorf("profile of %s: %w", transport, err)
		}
	}
	return nil
}

func (r *runner) profileOver(ctx context.Context, transport string) error {
	e, err := r.startEdge(ctx, edgeOptions{})
	if err != nil {
		return err
	}
	defer e.kill() // a stop would wait for clients that vanished
	to, err := e.reach(ctx, transport, tenant, 0, 0)
	if err != nil {
		return err
	}
	o := loadgen.Defaults(loadgen.Fanout)
	o.Subscribers, o.Warmup = r.scale.Subscribers, r.scale.Warmup
	// The two profiles are taken one after the other, in the measured time.
	seconds := max(1, int(r.scale.Duration.Seconds()))
	o.Duration = 2*r.scale.Duration + waitTimeout
	p, err := startLoad(r.loading, job{Measure: &measureJob{to, o}})
	if err != nil {
		return err
	}
	defer p.kill() // does not wait for the end of the run
	if err := e.awaitConnections(ctx, o.Subscribers, p.child); err != nil {
		return err
	}
	if err := sleep(ctx, o.Warmup); err != nil {
		return err
	}
	for kind, path := range map[string]string{"cpu": "profile", "allocs": "allocs"} {
		file := filepath.Join(r.Profile, fmt.Sprintf("%s-%s-w128.pprof", kind, transport))
		if err := e.save(ctx, fmt.Sprintf("/debug/pprof/%s?seconds=%d", path, seconds), file); err != nil {
			return err
		}
		fmt.Fprintf(r.log, "wrote %s\n", file)
	}
	return nil
}

// save writes the answer of an admin path to a file.
func (e *edge) save(ctx context.Context, path, file string) error {
	body, err := e.get(ctx, path)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, body)
	return errors.Join(err, f.Close())
}

// awaitConnections returns when n clients are connected.
func (e *edge) awaitConnections(ctx context.Context, n int, load *child) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { // ends with ctx
		select {
		case <-load.exited:
			cancel(load.failure())
		case <-ctx.Done():
		}
	}()
	return e.await(ctx, func(connected int) bool { return connected >= n })
}

// isIdle waits a moment until no client is connected, and reports whether that is so. An edge may go on reading
// for long what clients have sent before they hung up.
func (e *edge) isIdle(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return e.await(ctx, func(connected int) bool { return connected == 0 }) == nil
}

// await returns when as many clients are connected as is wanted.
func (e *edge) await(ctx context.Context, wanted func(connected int) bool) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		body, err := e.get(ctx, "/pubsub/connections")
		if err != nil {
			return err
		}
		var now struct{ Connections []json.RawMessage }
		err = json.NewDecoder(body).Decode(&now)
		body.Close()
		if err != nil || wanted(len(now.Connections)) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
