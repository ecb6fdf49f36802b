package operate

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/caddymodule/app"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/pubsub/presence"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
	"github.com/millrace/millrace/wire"
)

// errNoPresences says that nobody can be present.
var errNoPresences = errors.New("this edge has no presence")

// presenceCalls are the calls about who is present, on all edges: each of them knows that of
// the others.
var presenceCalls = map[string]Call{
	"GET /presences":         {"", listPresences},
	"GET /presences/members": {"", listMembers},
}

func init() { maps.Copy(Calls, presenceCalls) }

// presenceList answers the call that lists where somebody is present.
type presenceList struct {
	// Presences is how many members each tenant has, ordered by presence and tenant.
	Presences []presence.Usage `json:"presences"`
	// NextCursor is the `cursor` of the next page; empty: this is the last.
	NextCursor string `json:"next_cursor,omitempty"`
	// Totals are of each presence with all of its tenants, whatever is asked for, in the order
	// of the configuration.
	Totals []presenceTotal `json:"totals"`
}

// presenceTotal is how many are in a presence.
type presenceTotal struct {
	Presence   string `json:"presence"`
	Tenants    int    `json:"tenants"` // that have members in it
	Members    int    `json:"members"`
	MaxMembers int    `json:"max_members"` // that a tenant may have in it
}

// presenceQuery is which part of the list is asked for.
type presenceQuery struct {
	presence string // empty: all
	tenant   string // a name, or the beginning of names with * behind; empty: all
	limit    int
	after    presence.Usage
}

func listPresences(live *app.Running, r *http.Request, _ []byte) (any, error) {
	set := live.Hub.Presences()
	if set.Len() == 0 {
		return nil, errNoPresences
	}
	query, err := parsePresenceQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	return query.list(live.Hub.PresenceUsage(), set.All()), nil
}

// parsePresenceQuery reads the query of a list of presences.
func parsePresenceQuery(raw string) (q presenceQuery, err error) {
	given, err := rest.Parameters(raw, "presence", "tenant", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q.presence, q.tenant = given["presence"], given["tenant"]
	if err := checkTenantFilter(q.tenant); err != nil {
		return q, err
	}
	if q.limit, err = limitOf(given, maxListed); err != nil {
		return q, err
	}
	q.limit = cmp.Or(q.limit, maxListed)
	if cursor, has := given["cursor"]; has {
		if q.after.Presence, q.after.Tenant, has = strings.Cut(cursor, ":"); !has {
			return q, errCursor
		}
	}
	return q, nil
}

// list returns the page of what is there, and the totals of the presences that are
// configured. It reorders all.
func (q presenceQuery) list(all []presence.Usage, configured []presence.Definition) presenceList {
	slices.SortFunc(all, comparePresenceUsage)
	sums := map[string]presenceTotal{}
	for _, u := range all {
		sum := sums[u.Presence]
		sums[u.Presence] = presenceTotal{Tenants: sum.Tenants + 1, Members: sum.Members + u.Members}
	}
	answer := presenceList{Presences: []presence.Usage{}, Totals: []presenceTotal{}}
	for _, d := range configured {
		total := sums[d.Name]
		total.Presence, total.MaxMembers = d.Name, d.Members
		answer.Totals = append(answer.Totals, total)
	}
	for _, u := range all {
		if !q.asksFor(u) {
			continue
		}
		if len(answer.Presences) == q.limit {
			last := answer.Presences[q.limit-1]
			answer.NextCursor = last.Presence + ":" + last.Tenant // neither has a colon
			break
		}
		answer.Presences = append(answer.Presences, u)
	}
	return answer
}

func (q presenceQuery) asksFor(u presence.Usage) bool {
	return (q.after.Presence == "" || comparePresenceUsage(u, q.after) > 0) &&
		(q.presence == "" || q.presence == u.Presence) && tenantMatches(q.tenant, u.Tenant)
}

func comparePresenceUsage(a, b presence.Usage) int {
	return cmp.Or(cmp.Compare(a.Presence, b.Presence), cmp.Compare(a.Tenant, b.Tenant))
}

// memberList answers the call that lists who is present.
type memberList struct {
	// Members, those that changed first first. One that changes while pages are read may be
	// in two of them.
	Members []listedMember `json:"members"`
	// NextCursor is the `cursor` of the next page; empty: this is the last.
	NextCursor string `json:"next_cursor,omitempty"`
	// Total is of all that the pattern matches, of any subject and on all pages.
	Total memberTotal `json:"total"`
}

type listedMember struct {
	Channel string          `json:"channel"`
	Subject string          `json:"subject"`
	Since   time.Time       `json:"since"`
	Info    json.RawMessage `json:"info,omitempty"` // of its newest token, a JSON object
}

type memberTotal struct {
	Members  int `json:"members"`
	Channels int `json:"channels"` // in which they are
}

func listMembers(live *app.Running, r *http.Request, _ []byte) (any, error) {
	if live.Hub.Presences().Len() == 0 {
		return nil, errNoPresences
	}
	query, err := parseMemberQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	members, next := live.Hub.Members(query)
	answer := memberList{Members: make([]listedMember, 0, len(members))}
	for _, m := range members {
		answer.Members = append(answer.Members, listedMember{m.Channel, m.Subject, m.Since, m.Info})
	}
	if next != 0 {
		answer.NextCursor = strconv.FormatUint(next, 10)
	}
	answer.Total.Members, answer.Total.Channels = live.Hub.CountMembers(query.Tenant, query.Pattern)
	return answer, nil
}

// parseMemberQuery reads the query of a list of members.
func parseMemberQuery(raw string) (q presence.Query, err error) {
	given, err := rest.Parameters(raw, "tenant", "pattern", "subject", "limit", "cursor")
	if err != nil {
		return q, err
	}
	q.Tenant, q.Subject = given["tenant"], given["subject"]
	switch {
	case wire.CheckTenant(q.Tenant) != nil:
		return q, invalid("tenant", "must be the name of a tenant")
	case len(q.Subject) > tokenstore.MaxSubject:
		return q, invalid("subject", "must be at most "+strconv.Itoa(tokenstore.MaxSubject)+" bytes")
	}
	if q.Pattern, err = pattern.Parse(cmp.Or(given["pattern"], "#")); err != nil {
		return q, invalid("pattern", err.Error())
	}
	if q.Limit, err = limitOf(given, maxListed); err != nil {
		return q, err
	}
	q.Limit = cmp.Or(q.Limit, maxListed)
	if cursor, has := given["cursor"]; has {
		if q.After, err = strconv.ParseUint(cursor, 10, 64); err != nil || q.After == 0 {
			return q, errCursor
		}
	}
	return q, nil
}

// presenceProblem is the answer for an error about presences; false: it is another error.
func presenceProblem(err error) (p rest.Problem, ok bool) {
	if errors.Is(err, errNoPresences) {
		return rest.Problem{Status: http.StatusNotFound, Code: "no_presences", Detail: err.Error()}, true
	}
	return p, false
}
