package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// edges are the edges to choose from, the best first. Safe for concurrent use.
type edges struct {
	s         *settings
	addresses []address
	http      *http.Client

	mu        sync.Mutex
	origins   []string             // the best first
	transport map[string]Transport // what came up last, of each edge
}

func newEdges(s *settings, addresses []string) (*edges, error) {
	if len(addresses) == 0 {
		return nil, badOption("there is no address: give the origin of an edge, like https://edge.example.com or http://localhost:8080")
	}
	e := &edges{s: s, transport: map[string]Transport{}}
	for _, text := range addresses {
		a, err := parseAddress(text, s.AllowPlaintext)
		if err != nil {
			return nil, err
		}
		e.addresses = append(e.addresses, a)
	}
	e.http = httpClient(s.dialer)
	return e, nil
}

// maxList is the longest list of edges that is read, in bytes.
const maxList = 1 << 20

// resolve fetches the lists of edges. Edges that are new come last. It fails only
// if no edge is known then.
func (e *edges) resolve(ctx context.Context) error {
	var (
		origins []string
		failure error
	)
	for _, a := range e.addresses {
		if a.list == "" {
			origins = append(origins, a.origin)
			continue
		}
		listed, err := e.fetch(ctx, a)
		if err != nil {
			failure = err
		}
		origins = append(origins, listed...)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if failure != nil {
		origins = append(origins, e.origins...) // as far as we know they are still there
	}
	var known []string
	for _, o := range e.origins {
		if slices.Contains(origins, o) {
			known = append(known, o)
		}
	}
	for _, o := range origins {
		if !slices.Contains(known, o) {
			known = append(known, o)
		}
	}
	if len(known) == 0 {
		if failure == nil {
			failure = &Error{Code: CodeUnreachable, Text: "the list of edges is empty"}
		}
		return failure
	}
	e.origins = known
	return nil
}

func (e *edges) fetch(ctx context.Context, a address) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, e.s.ConnectTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.list, nil)
	if err != nil {
		return nil, badOption("the address of the list of edges is no URL")
	}
	res, err := e.http.Do(req)
	if err != nil {
		return nil, unreachable("the list of edges", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		e := refused(res)
		if e.Code == CodeUnreachable && e.Status < http.StatusInternalServerError {
			e.Text = fmt.Sprintf("%s answers with HTTP status %d and is not the list of edges of a Millrace edge: the address of one edge has no path", a.list, res.StatusCode)
		}
		return nil, e
	}
	var list struct {
		Edges []struct {
			Host string `json:"host"`
		} `json:"edges"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxList)).Decode(&list); err != nil {
		return nil, &Error{Code: CodeUnreachable, Status: res.StatusCode, Text: a.list + " is not the list of edges of a Millrace edge: the address of one edge has no path"}
	}
	scheme, _, _ := strings.Cut(a.origin, "://")
	var origins []string
	for _, edge := range list.Edges {
		listed, err := parseAddress(scheme+"://"+edge.Host, e.s.AllowPlaintext)
		if err == nil && listed.list == "" {
			origins = append(origins, listed.origin)
		}
	}
	return origins, nil
}

// rank puts the edge with the lowest latency first, if there are several.
func (e *edges) rank(ctx context.Context) {
	e.mu.Lock()
	origins := slices.Clone(e.origins)
	e.mu.Unlock()
	if len(origins) < 2 {
		return
	}
	ranked := probe(ctx, origins, func(ctx context.Context, origin string) (time.Duration, error) {
		return e.s.measure(ctx, e.http, origin+e.s.Paths.Ping)
	}, e.s.ConnectTimeout)
	e.http.CloseIdleConnections()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.origins = ranked
}

// order returns the edges to try, the best first. away comes last: the edge that
// was lost or drains.
func (e *edges) order(away string) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var order []string
	for _, o := range e.origins {
		if o != away {
			order = append(order, o)
		}
	}
	if len(order) < len(e.origins) {
		order = append(order, away)
	}
	return order
}

// transports returns those to try for an edge, the one that came up last first.
func (e *edges) transports(origin string) []Transport {
	e.mu.Lock()
	defer e.mu.Unlock()
	var order []Transport
	for _, t := range e.s.Transports {
		if t == WebTransport && !e.s.hasHTTP3(origin) {
			continue
		}
		if t == e.transport[origin] {
			order = slices.Insert(order, 0, t)
		} else {
			order = append(order, t)
		}
	}
	return order
}

func (e *edges) remember(origin string, t Transport) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.transport[origin] = t
}

// prefer makes a transport the first choice for an edge, if it may be used.
func (e *edges) prefer(origin string, t Transport) {
	if slices.Contains(e.s.Transports, t) {
		e.remember(origin, t)
	}
}
