package overlay

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/refusals"
	"github.com/millrace/millrace/wire"
)

// RefusedQuery says which refusals to list.
type RefusedQuery struct {
	Edge         string            // by ID or name; empty: all
	ConnectionID wire.ConnectionID // zero: any
	TokenID      string            // empty: any
	Subject      string            // of the token; empty: any
	Network      netip.Prefix      // of the client's address; not valid: any
	Before       time.Time         // only older ones, as the last one of the page before; zero: any
	Limit        int               // 1 to MaxLimit; 0: DefaultLimit
}

// RefusedList is what edges have refused last, newest first.
type RefusedList struct {
	Edges   []EdgeAnswer `json:"edges"`
	Refused []Refused    `json:"refused"`
	More    bool         `json:"more"` // there are older ones
}

// EdgeAnswer says whether an edge answered.
type EdgeAnswer struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	State    string `json:"state"` // of [pubsub.Member]
	Answered bool   `json:"answered"`
	Error    string `json:"error,omitempty"` // why it did not
}

// Refused is a refusal of an edge.
type Refused struct {
	Edge     string `json:"edge"`
	EdgeName string `json:"edge_name"`
	refusals.Refusal
}

// refusedFilter is [refusals.Filter] as edges tell it each other.
type refusedFilter struct {
	ConnectionID wire.ConnectionID `json:"connection_id,omitzero"`
	TokenID      string            `json:"token_id,omitempty"`
	Subject      string            `json:"subject,omitempty"`
	Network      netip.Prefix      `json:"network,omitzero"`
	Before       time.Time         `json:"before,omitzero"`
}

// refusedArgs are those of kindRefused.
type refusedArgs struct {
	refusedFilter
	Limit int `json:"limit"`
}

// refusedPage answers kindRefused.
type refusedPage struct {
	Refused []refusals.Refusal `json:"refused"`
	More    bool               `json:"more"`
}

// Refused lists what edges have refused last. Those that do not answer are named in what it
// returns.
func (o *Overlay) Refused(ctx context.Context, q RefusedQuery) (list RefusedList, err error) {
	members, err := o.asked(q.Edge)
	if err != nil {
		return list, err
	}
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	limit := min(q.Limit, MaxLimit)
	args := refusedArgs{refusedFilter{q.ConnectionID, q.TokenID, q.Subject, q.Network, q.Before}, limit}
	type answer struct {
		EdgeAnswer
		refusedPage
	}
	list.Refused = []Refused{}
	var horizon time.Time // what is older may lack something of an edge that has more
	for _, a := range round(o, members, func(ctx context.Context, m pubsub.Member) answer {
		self := o.isSelf(m)
		page, err := ask[refusedPage](ctx, o, m, self, kindRefused, args)
		return answer{EdgeAnswer{m.ID, nameOf(m, self), m.State, err == nil, shownError(err)}, page}
	}) {
		list.Edges = append(list.Edges, a.EdgeAnswer)
		list.More = list.More || a.More
		page := a.refusedPage.Refused
		for _, r := range page[:min(len(page), limit)] {
			list.Refused = append(list.Refused, Refused{a.ID, a.Name, r})
			if last := page[len(page)-1].Time; a.More && last.After(horizon) {
				horizon = last
			}
		}
	}
	list.Refused = slices.DeleteFunc(list.Refused, func(r Refused) bool { return r.Time.Before(horizon) })
	slices.SortStableFunc(list.Refused, func(a, b Refused) int { return b.Time.Compare(a.Time) })
	if len(list.Refused) > limit {
		list.Refused, list.More = list.Refused[:limit], true
	}
	return list, nil
}
