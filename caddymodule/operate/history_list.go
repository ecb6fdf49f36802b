package operate

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub/history"
	"github.com/millrace/millrace/tokenstore/rest"
)

// maxListed is how many rows a page of a list about histories or presences may have.
const maxListed = 1000

// historyList answers the call that lists what is kept.
type historyList struct {
	// Histories is what is kept of each tenant, ordered by history and tenant.
	Histories []history.Usage `json:"histories"`
	// NextCursor is the `cursor` of the next page; empty: this is the last.
	NextCursor string `json:"next_cursor,omitempty"`
	// Totals are of each history with all of its tenants, whatever is asked for, ordered by name.
	Totals []historyTotal `json:"totals"`
}

// historyTotal is what a history keeps of all tenants.
type historyTotal struct {
	History    string    `json:"history"`
	Configured bool      `json:"configured"` // false: what it keeps is from an earlier configuration
	Tenants    int       `json:"tenants"`
	Channels   int       `json:"channels"`
	Messages   int       `json:"messages"`
	Bytes      int64     `json:"bytes"`
	Oldest     time.Time `json:"oldest,omitzero"` // when its oldest message was stored; omitted: it has none
	// Effective is what all edges follow; null: no edge keeps the history, or this one does not know.
	Effective *effectiveHistory `json:"effective"`
	// Drift lists in what this edge's configuration differs from that, and Remedy what to do about it.
	Drift  []history.Difference `json:"drift,omitempty"`
	Remedy string               `json:"remedy,omitempty"`
	// Error is why this edge cannot use the history, or list what it keeps.
	Error string `json:"error,omitempty"`
}

// effectiveHistory is the definition that all edges follow.
type effectiveHistory struct {
	Version       int      `json:"version"`
	Tenants       []string `json:"tenants"` // none: all
	Channels      []string `json:"channels"`
	Messages      int      `json:"messages"`
	AgeSeconds    float64  `json:"age_seconds"`
	Size          int64    `json:"size"`            // bytes
	MaxLagSeconds float64  `json:"max_lag_seconds"` // 0: none
}

// historyQuery is which part of the list is asked for.
type historyQuery struct {
	history string // empty: all
	tenant  string // a name, or the beginning of names with * behind; empty: all
	limit   int    // 0: all
	after   history.Usage
}

func listHistories(live *app.Running, r *http.Request, _ []byte) (any, error) {
	store := live.HistoryStore()
	if store == nil {
		return nil, errNoHistories
	}
	query, err := parseHistoryQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	all, err := store.Usage()
	var partly *history.UsageError
	if err != nil && !errors.As(err, &partly) {
		return nil, err
	}
	states := live.HistoryStates()
	if partly != nil {
		for name, err := range partly.Histories {
			if state := states[name]; state.Err == nil {
				state.Err = err
				states[name] = state
			}
		}
	}
	return query.list(all, states), nil
}

// parseHistoryQuery reads the query of a list of what is kept.
func parseHistoryQuery(raw string) (q historyQuery, err error) {
	given, err := rest.Parameters(raw, "history", "tenant", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q.history, q.tenant = given["history"], given["tenant"]
	if err := checkTenantFilter(q.tenant); err != nil {
		return q, err
	}
	if q.limit, err = limitOf(given, maxListed); err != nil {
		return q, err
	}
	if cursor, has := given["cursor"]; has {
		if q.after.History, q.after.Tenant, has = strings.Cut(cursor, ":"); !has {
			return q, errCursor
		}
	}
	return q, nil
}

// list returns the page of what is kept, and the totals of that and of the histories that are
// configured, or that all edges follow. It reorders all.
func (q historyQuery) list(all []history.Usage, states map[string]history.State) historyList {
	slices.SortFunc(all, compareUsage)
	answer := historyList{Histories: []history.Usage{}, Totals: totals(all, states)}
	for _, u := range all {
		if !q.asksFor(u) {
			continue
		}
		if q.limit > 0 && len(answer.Histories) == q.limit {
			last := answer.Histories[q.limit-1]
			answer.NextCursor = last.History + ":" + last.Tenant // neither has a colon
			break
		}
		answer.Histories = append(answer.Histories, u)
	}
	return answer
}

func (q historyQuery) asksFor(u history.Usage) bool {
	if q.after.History != "" && compareUsage(u, q.after) <= 0 || q.history != "" && q.history != u.History {
		return false
	}
	return tenantMatches(q.tenant, u.Tenant)
}

func compareUsage(a, b history.Usage) int {
	return cmp.Or(cmp.Compare(a.History, b.History), cmp.Compare(a.Tenant, b.Tenant))
}

// totals sums what is kept by history.
func totals(all []history.Usage, states map[string]history.State) []historyTotal {
	sums := map[string]historyTotal{}
	for name, state := range states {
		sum := historyTotal{History: name, Drift: state.Drift(), Remedy: state.Remedy()}
		sum.Configured = state.Configured != nil && !state.Configured.Retired
		if state.Err != nil {
			sum.Error = state.Err.Error()
		}
		if d := state.Effective; d != nil {
			sum.Effective = &effectiveHistory{
				Version: d.Version, Tenants: slices.Concat([]string{}, d.Tenants), Channels: d.Channels, Messages: d.Limits.Messages,
				AgeSeconds: d.Limits.Age.Seconds(), Size: d.Limits.Size, MaxLagSeconds: d.MaxLag.Seconds(),
			}
		} else if !sum.Configured && state.Err == nil {
			continue // it is retired, and listed if it keeps something
		}
		sums[name] = sum
	}
	for _, u := range all {
		sum := sums[u.History]
		sum.History = u.History
		sum.Tenants++
		sum.Channels += u.Channels
		sum.Messages += u.Messages
		sum.Bytes += u.Bytes
		if sum.Oldest.IsZero() || u.Oldest.Before(sum.Oldest) {
			sum.Oldest = u.Oldest
		}
		sums[u.History] = sum
	}
	list := make([]historyTotal, 0, len(sums))
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		list = append(list, sums[name])
	}
	return list
}
