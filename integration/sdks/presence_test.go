package sdks

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// watch is a presence of a client.
type watch struct {
	c       *sdk.Client
	name    string
	changes *sdk.Mailbox // and the end
	shown   []string     // of those of whom it was told: "channel/subject", sorted, or "channel:count"
}

// startWatch watches who is present.
func startWatch(c *sdk.Client, mode, tenant, pattern string, count bool) *watch {
	c.T.Helper()
	name, changes := c.Feed("w")
	r := c.Must(sdk.Command{Cmd: "presence", Watch: name, Mode: mode, Tenant: tenant, Pattern: pattern, Count: count})
	if !r.Synced || count && len(r.Members) > 0 {
		c.T.Errorf("%s: a new presence shows %v", c.Kind, r)
	}
	return &watch{c, name, changes, shownBy(r, count)}
}

func shownBy(r sdk.Report, count bool) (list []string) {
	if !count {
		for _, m := range r.Members {
			list = append(list, m.Channel+"/"+m.Subject)
		}
		return list
	}
	for _, channel := range slices.Sorted(maps.Keys(r.Counts)) {
		list = append(list, fmt.Sprintf("%s:%d", channel, r.Counts[channel]))
	}
	return list
}

// next awaits the next change, and applies it to shown.
func (w *watch) next() sdk.Report {
	w.c.T.Helper()
	r, ok := w.changes.Next()
	if !ok || r.Event != "presenceChange" || r.Type != "counts" && r.MemberInfo == nil {
		w.c.T.Fatalf("%s: got %v, want a change %s; it shows %q; events: %v", w.c.Kind, r, w.changes.Why(), w.shown, w.c.Events.Rest())
	}
	if r.Type == "counts" {
		w.shown = slices.DeleteFunc(w.shown, func(of string) bool { return strings.HasPrefix(of, r.Channel+":") })
		if r.Count > 0 {
			w.shown = append(w.shown, fmt.Sprintf("%s:%d", r.Channel, r.Count))
		}
	} else {
		name := r.MemberInfo.Channel + "/" + r.MemberInfo.Subject
		if slices.Contains(w.shown, name) != (r.Type != "joined") {
			w.c.T.Fatalf("%s: %v, but it shows %q", w.c.Kind, r, w.shown)
		}
		switch r.Type {
		case "joined":
			w.shown = append(w.shown, name)
		case "left":
			w.shown = slices.DeleteFunc(w.shown, func(of string) bool { return of == name })
		}
	}
	slices.Sort(w.shown)
	return r
}

// want requires that the next change is this one, of a member with this info.
func (w *watch) want(change, channel, subject, info string) {
	w.c.T.Helper()
	r := w.next()
	if m := r.MemberInfo; r.Type != change || m == nil || m.Channel != channel || m.Subject != subject || m.Since == "" || !sameJSON(m.Info, info) {
		w.c.T.Fatalf("%s: got %v, want that %s %s %s with %s; events: %v", w.c.Kind, r, subject, change, channel, info, w.c.Events.Rest())
	}
}

func sameJSON(got json.RawMessage, want string) bool {
	var a, b any
	_, _ = json.Unmarshal(got, &a), json.Unmarshal([]byte(want), &b) // what is empty stays nil
	return reflect.DeepEqual(a, b)
}

// reach takes changes until it shows this.
func (w *watch) reach(shown ...string) {
	w.c.T.Helper()
	slices.Sort(shown)
	for !slices.Equal(w.shown, shown) {
		w.next()
	}
}

// wantShown requires that the client's own properties show the same, and that it is synced.
func (w *watch) wantShown(count bool) {
	w.c.T.Helper()
	if r := w.c.Must(sdk.Command{Cmd: "members", Watch: w.name}); !r.Synced || !slices.Equal(shownBy(r, count), w.shown) {
		w.c.T.Errorf("%s: it shows %v, want %q", w.c.Kind, r, w.shown)
	}
}

// end closes it, and requires that nothing has come that was not awaited.
func (w *watch) end() {
	w.c.T.Helper()
	w.c.Must(sdk.Command{Cmd: "closePresence", Watch: w.name})
	if r, ok := w.changes.Next(); !ok || r.Event != "presenceEnded" || r.Error != nil {
		w.c.T.Errorf("%s: got %v, want the end of the presence", w.c.Kind, r)
	}
}

// subject issues a token of a subject, who may watch who is present.
func subject(s *stage, name, info string) harness.Issued {
	s.T.Helper()
	grant := harness.AllowAll(s.Room)
	grant["allow_channels_presence"] = []string{"#"}
	request := harness.TokenRequest(grant)
	request["subject"] = name
	if info != "" {
		request["info"] = json.RawMessage(info)
	}
	return s.Edges[0].IssueAs(s.Edges[0].Master, request)
}

// join joins a channel; the membership has the name of its channel, and suffix.
func join(s *stage, c *sdk.Client, channel, suffix string) {
	s.T.Helper()
	c.Must(sdk.Command{Cmd: "join", Member: channel + suffix, Tenant: s.Tenant, Channel: channel})
}

func leave(c *sdk.Client, member string) {
	c.T.Helper()
	c.Must(sdk.Command{Cmd: "leave", Member: member})
	c.EventThat(func(r sdk.Report) bool { return r.Member == member && r.Error == nil }, "membershipEnded")
}

// Who joins is seen, by name and by number, until the last session of the subject has left; and
// losses of the connection are not seen at all.
func presence(s *stage) {
	const adaInfo, twinInfo = `{"name":"Ada","device":1}`, `{"name":"Ada","device":2}`
	tokens := []harness.Issued{subject(s, "ada", adaInfo), subject(s, "watcher", "")}
	ada, watcher := s.Connect(sdk.Options{Token: tokens[0].Token}), s.Connect(sdk.Options{Token: tokens[1].Token})
	twin, bob := s.Connect(sdk.Options{Token: subject(s, "ada", twinInfo).Token}), s.Connect(sdk.Options{Token: subject(s, "bob", "").Token})
	nobody := s.Connect(sdk.Options{})
	presenceErrors(s, ada, bob, nobody)

	rooms := startWatch(watcher, "iterate", s.Tenant, "room.*", false)
	counts := startWatch(nobody, "iterate", s.Tenant, "room.*", true)
	join(s, ada, "room.1", "")
	rooms.want("joined", "room.1", "ada", adaInfo)
	join(s, ada, "room.1", " again")
	join(s, twin, "room.1", "")
	rooms.want("changed", "room.1", "ada", twinInfo)
	join(s, bob, "room.2", "")
	rooms.want("joined", "room.2", "bob", "")
	counts.reach("room.1:1", "room.2:1")
	rooms.wantShown(false)
	counts.wantShown(true)
	for _, member := range []string{"room.1", "room.1 again"} {
		leave(ada, member)
	}
	ada.Must(sdk.Command{Cmd: "leave", Member: "room.1"}) // once more
	leave(twin, "room.1")
	rooms.want("left", "room.1", "ada", twinInfo)

	// What nobody reads is put together.
	held := startWatch(watcher, "held", s.Tenant, "room.*", false)
	for _, channel := range []string{"room.3", "room.4"} {
		join(s, ada, channel, "")
		rooms.want("joined", channel, "ada", adaInfo)
	}
	leave(ada, "room.3")
	rooms.want("left", "room.3", "ada", adaInfo)
	watcher.Must(sdk.Command{Cmd: "read", Watch: held.name})
	held.want("joined", "room.4", "ada", adaInfo)
	held.end()
	counts.reach("room.2:1", "room.4:1")

	if !history.SdkLacks("reconnect") {
		for i, c := range []*sdk.Client{ada, watcher} {
			disconnect(s, tokens[i].TokenID)
			c.Event("disconnected")
			c.Event("reconnected")
		}
	}
	join(s, bob, "room.5", "")
	rooms.want("joined", "room.5", "bob", "") // and nothing before
	leave(ada, "room.4")                      // which is seen only if it has joined again
	rooms.want("left", "room.4", "ada", adaInfo)
	rooms.wantShown(false)
	if n := ada.Count("membershipEnded"); n != 5 {
		s.T.Errorf("%s: %d memberships have ended, want those 5 that were left", s.Kind, n)
	}
	rooms.end()
	counts.reach("room.2:1", "room.5:1")
	counts.end()
	for _, c := range []*sdk.Client{ada, watcher, nobody} {
		c.Never("edgeError", "subscriptionError")
	}
}

// presenceErrors tries what may not be.
func presenceErrors(s *stage, ada, bob, nobody *sdk.Client) {
	s.T.Helper()
	request := harness.TokenRequest(harness.Grant(s.Room, []string{"out.#"}, []string{"in.#"}))
	request["subject"] = "eve"
	eve := s.Connect(sdk.Options{Token: s.Edges[0].IssueAs(s.Edges[0].Master, request).Token})
	join(s, ada, "few.1", "")
	for _, row := range []struct {
		c       *sdk.Client
		command sdk.Command // channel or pattern; empty member: presence
		code    string
	}{
		{nobody, sdk.Command{Cmd: "join", Channel: "room.1"}, "no_subject"},
		{eve, sdk.Command{Cmd: "join", Channel: "room.1"}, "permission_denied"},
		{ada, sdk.Command{Cmd: "join", Channel: "other"}, "no_presence"},
		{bob, sdk.Command{Cmd: "join", Channel: "few.1"}, "too_many_members"},
		{ada, sdk.Command{Cmd: "join", Channel: "room.*"}, "bad_channel"},
		{nobody, sdk.Command{Cmd: "presence", Pattern: "room.1"}, "permission_denied"},
		{eve, sdk.Command{Cmd: "presence", Pattern: "room.1", Count: true}, "permission_denied"},
		{ada, sdk.Command{Cmd: "presence", Pattern: "#"}, "no_presence"},
		{ada, sdk.Command{Cmd: "presence", Pattern: "*a"}, "bad_pattern"},
	} {
		row.command.Tenant, row.command.Mode = s.Tenant, "iterate"
		if row.command.Cmd == "join" {
			row.command.Member = "none"
		} else {
			row.command.Watch, _ = row.c.Feed("w")
		}
		if err := row.c.Refused(row.command, row.code); err.Tenant != s.Tenant || err.Channel != row.command.Channel || err.Pattern != row.command.Pattern {
			s.T.Errorf("%s: %v: %+v, want the names", s.Kind, row.command, err)
		}
	}
	leave(ada, "few.1")
}
