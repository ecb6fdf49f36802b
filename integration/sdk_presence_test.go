package integration

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// sdkPresenceCaddyfile is an edge on which members linger longer than any test waits: who is
// seen to leave has said so.
var sdkPresenceCaddyfile = withRooms(defaultCaddyfile, "10m")

// withRooms lets an edge know who is in room.#, and of one member at a time in few.#.
func withRooms(caddyfile, linger string) string {
	return strings.Replace(caddyfile, "drain ", `presence rooms {
			channels room.#
			linger `+linger+`
		}
		presence few {
			channels few.#
			members 1
		}
		drain `, 1)
}

// An sdkWatch is a presence of a client. Its methods are like the client's.
type sdkWatch struct {
	c       *sdkClient
	name    string
	changes *mailbox // and the end
	shown   []string // "channel/subject" of the members that it was told of, sorted; or "channel:count"
}

// join joins a channel; the membership has the name of its channel, and suffix.
func (c *sdkClient) join(tenant, channel, suffix string) {
	c.t.Helper()
	c.must(sdkCommand{Cmd: "join", Member: channel + suffix, Tenant: tenant, Channel: channel})
}

// leave undoes join.
func (c *sdkClient) leave(member string) {
	c.t.Helper()
	c.must(sdkCommand{Cmd: "leave", Member: member})
	if r := c.eventThat("membershipEnded", func(r sdkReport) bool { return r.Member == member }); r.Error != nil {
		c.t.Errorf("%s: the membership ended with %v", c.kind, r.Error)
	}
}

// watch watches who is present, and reads the changes as they come.
func (c *sdkClient) watch(tenant, pattern string, count bool) *sdkWatch {
	c.t.Helper()
	return c.watchAs("iterate", tenant, pattern, count)
}

func (c *sdkClient) watchAs(mode, tenant, pattern string, count bool) *sdkWatch {
	c.t.Helper()
	w, r, err := c.tryWatch(mode, tenant, pattern, count)
	if err != nil {
		c.t.Fatalf("%s: presence %s %s: %v; events: %v", c.kind, tenant, pattern, err, c.events.rest())
	}
	if !r.Synced || count && len(r.Members) > 0 {
		c.t.Errorf("%s: a new presence shows %v", c.kind, r)
	}
	if w.shown = namesOf(r.Members); count {
		w.shown = countsOf(r.Counts)
	}
	return w
}

func (c *sdkClient) tryWatch(mode, tenant, pattern string, count bool) (*sdkWatch, sdkReport, *sdkError) {
	c.t.Helper()
	c.mu.Lock()
	w := &sdkWatch{c, fmt.Sprintf("w%d", len(c.watches)), newMailbox(), nil}
	c.watches[w.name] = w
	if c.failed != nil {
		w.changes.fail(c.failed)
	}
	c.mu.Unlock()
	r, err := c.try(sdkCommand{Cmd: "presence", Watch: w.name, Mode: mode, Tenant: tenant, Pattern: pattern, Count: count})
	return w, r, err
}

func namesOf(members []sdkMember) (names []string) {
	for _, m := range members {
		names = append(names, m.Channel+"/"+m.Subject)
	}
	return names
}

func countsOf(counts map[string]int) (list []string) {
	for _, channel := range slices.Sorted(maps.Keys(counts)) {
		list = append(list, fmt.Sprintf("%s:%d", channel, counts[channel]))
	}
	return list
}

// next awaits the next change, and applies it to shown.
func (w *sdkWatch) next() sdkReport {
	w.c.t.Helper()
	r, ok := w.changes.take(func(sdkReport) bool { return true })
	switch {
	case !ok:
		w.c.t.Fatalf("%s: no change %s; it shows %q; events: %v", w.c.kind, w.changes.why(), w.shown, w.c.events.rest())
	case r.Event != "presenceChange":
		w.c.t.Fatalf("%s: the presence ended: %v", w.c.kind, r.Error)
	case r.Type == "counts":
		w.shown = slices.DeleteFunc(w.shown, func(of string) bool { return strings.HasPrefix(of, r.Channel+":") })
		if r.Count > 0 {
			w.shown = append(w.shown, fmt.Sprintf("%s:%d", r.Channel, r.Count))
		}
	case r.MemberInfo == nil:
		w.c.t.Fatalf("%s: a change of nobody: %v", w.c.kind, r)
	default:
		name := r.MemberInfo.Channel + "/" + r.MemberInfo.Subject
		i, found := slices.BinarySearch(w.shown, name)
		switch {
		case found != (r.Type != "joined"):
			w.c.t.Fatalf("%s: %v, but it shows %q", w.c.kind, r, w.shown)
		case r.Type == "joined":
			w.shown = slices.Insert(w.shown, i, name)
		case r.Type == "left":
			w.shown = slices.Delete(w.shown, i, i+1)
		}
	}
	slices.Sort(w.shown)
	return r
}

// want requires that the next change is this one, of a member with this info.
func (w *sdkWatch) want(change, channel, subject, info string) {
	w.c.t.Helper()
	r := w.next()
	m := r.MemberInfo
	if r.Type != change || m == nil || m.Channel != channel || m.Subject != subject || !sameJSON(m.Info, info) {
		w.c.t.Fatalf("%s: got %v, want that %s %s %s with %s; events: %v", w.c.kind, r, subject, change, channel, info, w.c.events.rest())
	}
	if since, err := time.Parse(time.RFC3339, m.Since); err != nil || time.Since(since).Abs() > time.Hour {
		w.c.t.Errorf("%s: a member since %s (%v)", w.c.kind, m.Since, err)
	}
}

func sameJSON(got json.RawMessage, want string) bool {
	if want == "" || len(got) == 0 {
		return want == "" && len(got) == 0
	}
	var a, b any
	return json.Unmarshal(got, &a) == nil && json.Unmarshal([]byte(want), &b) == nil && fmt.Sprint(a) == fmt.Sprint(b)
}

// reach takes changes until it shows this, and reports what the client's own properties show.
func (w *sdkWatch) reach(shown ...string) {
	w.c.t.Helper()
	slices.Sort(shown)
	for !slices.Equal(w.shown, shown) {
		w.next()
	}
}

// wantShown requires that the client's own properties show this, and that it is synced.
func (w *sdkWatch) wantShown(members []string, counts map[string]int) {
	w.c.t.Helper()
	r := w.c.must(sdkCommand{Cmd: "members", Watch: w.name})
	if !r.Synced || !slices.Equal(namesOf(r.Members), members) || !maps.Equal(r.Counts, counts) {
		w.c.t.Errorf("%s: it shows %v, want %q and %v", w.c.kind, r, members, counts)
	}
}

// end closes it, and requires that nothing has come that was not awaited.
func (w *sdkWatch) end() {
	w.c.t.Helper()
	w.c.must(sdkCommand{Cmd: "closePresence", Watch: w.name})
	if r, ok := w.changes.take(func(sdkReport) bool { return true }); !ok || r.Event != "presenceEnded" || r.Error != nil {
		w.c.t.Errorf("%s: got %v, want the end of the presence", w.c.kind, r)
	}
}

// subject issues a token of a subject, who may watch who is present.
func (s *sdkStage) subject(name, info string) issued {
	s.t.Helper()
	grant := allowAll(s.room)
	grant["allow_channels_presence"] = []string{"#"}
	request := tokenRequest(grant)
	request["subject"] = name
	if info != "" {
		request["info"] = json.RawMessage(info)
	}
	return s.edges[0].issueAs(s.edges[0].master, request)
}

// Who joins is seen, by name and by number, until the last session of the subject has left; and
// losses of the connection are not seen at all.
func sdkPresence(s *sdkStage) {
	const adaInfo, olderAda = `{"name":"Ada","device":1}`, `{"name":"Ada","device":2}`
	tokens := map[string]issued{"ada": s.subject("ada", adaInfo), "watcher": s.subject("watcher", "")}
	ada, watcher := s.connect(sdkOptions{Token: tokens["ada"].Token}), s.connect(sdkOptions{Token: tokens["watcher"].Token})
	twin, bob := s.connect(sdkOptions{Token: s.subject("ada", olderAda).Token}), s.connect(sdkOptions{Token: s.subject("bob", "").Token})
	nobody := s.connect(sdkOptions{})
	sdkPresenceErrors(s, ada, bob, nobody)

	rooms := watcher.watch(s.tenant, "room.*", false)
	counts := nobody.watch(s.tenant, "room.*", true)
	if len(rooms.shown)+len(counts.shown) > 0 {
		s.t.Errorf("%s: nobody is there, and it shows %q and %q", s.kind, rooms.shown, counts.shown)
	}
	ada.join(s.tenant, "room.1", "")
	rooms.want("joined", "room.1", "ada", adaInfo)
	ada.join(s.tenant, "room.1", " again")
	twin.join(s.tenant, "room.1", "")
	rooms.want("changed", "room.1", "ada", olderAda)
	bob.join(s.tenant, "room.2", "")
	rooms.want("joined", "room.2", "bob", "")
	counts.reach("room.1:1", "room.2:1")
	rooms.wantShown([]string{"room.1/ada", "room.2/bob"}, map[string]int{"room.1": 1, "room.2": 1})
	counts.wantShown(nil, map[string]int{"room.1": 1, "room.2": 1})

	ada.leave("room.1")
	ada.must(sdkCommand{Cmd: "leave", Member: "room.1"})
	ada.leave("room.1 again")
	bob.join(s.tenant, "room.1", "")
	rooms.want("joined", "room.1", "bob", "")
	twin.leave("room.1")
	rooms.want("left", "room.1", "ada", olderAda)

	// What nobody reads is put together.
	held := watcher.watchAs("held", s.tenant, "room.*", false)
	if !slices.Equal(held.shown, []string{"room.1/bob", "room.2/bob"}) {
		s.t.Errorf("%s: another presence begins with %q", s.kind, held.shown)
	}
	ada.join(s.tenant, "room.3", "")
	rooms.want("joined", "room.3", "ada", adaInfo)
	ada.leave("room.3")
	rooms.want("left", "room.3", "ada", adaInfo)
	ada.join(s.tenant, "room.4", "")
	rooms.want("joined", "room.4", "ada", adaInfo)
	watcher.must(sdkCommand{Cmd: "read", Watch: held.name})
	held.want("joined", "room.4", "ada", adaInfo)
	held.end()
	counts.reach("room.1:1", "room.2:1", "room.4:1")

	if !sdkLacks("reconnect") {
		for name, c := range map[string]*sdkClient{"ada": ada, "watcher": watcher} {
			var done object
			s.edges[0].adminCall("POST", "/pubsub/connections/disconnect", object{"token_id": tokens[name].TokenID}).decode(s.t, http.StatusOK, &done)
			c.event("disconnected")
			c.event("reconnected")
		}
		bob.join(s.tenant, "room.5", "")
		rooms.want("joined", "room.5", "bob", "") // and nothing before
		ada.leave("room.4")                       // which it does only if it has joined again
		rooms.want("left", "room.4", "ada", adaInfo)
		rooms.wantShown([]string{"room.1/bob", "room.2/bob", "room.5/bob"}, map[string]int{"room.1": 1, "room.2": 1, "room.5": 1})
	} else {
		ada.leave("room.4")
		rooms.want("left", "room.4", "ada", adaInfo)
	}
	if n := ada.count("membershipEnded"); n != 5 {
		s.t.Errorf("%s: %d memberships have ended, want those 5 that were left", s.kind, n)
	}
	for _, channel := range []string{"room.1", "room.2"} {
		bob.leave(channel)
		rooms.want("left", channel, "bob", "")
	}
	if !sdkLacks("reconnect") {
		bob.leave("room.5")
		rooms.want("left", "room.5", "bob", "")
	}
	rooms.wantShown(nil, nil)
	rooms.end()
	counts.reach()
	counts.end()
	for _, c := range []*sdkClient{ada, watcher, nobody} {
		c.never("edgeError", "subscriptionError")
	}
}

// sdkPresenceErrors tries what may not be.
func sdkPresenceErrors(s *sdkStage, ada, bob, nobody *sdkClient) {
	request := tokenRequest(grant(s.room, []string{"out.#"}, []string{"in.#"}))
	request["subject"] = "eve"
	eve := s.connect(sdkOptions{Token: s.edges[0].issueAs(s.edges[0].master, request).Token})
	ada.join(s.tenant, "few.1", "")
	for _, row := range []struct {
		c             *sdkClient
		channel, code string
	}{
		{nobody, "room.1", "no_subject"},
		{eve, "room.1", "permission_denied"},
		{ada, "other", "no_presence"},
		{bob, "few.1", "too_many_members"},
		{ada, "room.*", "bad_channel"},
	} {
		_, err := row.c.try(sdkCommand{Cmd: "join", Member: "none", Tenant: s.tenant, Channel: row.channel})
		if err.ErrorCode() != row.code || err.Channel != row.channel || err.Tenant != s.tenant {
			s.t.Errorf("%s: joining %s: %+v, want %s, with the names", s.kind, row.channel, err, row.code)
		}
	}
	ada.leave("few.1")
	for _, row := range []struct {
		c             *sdkClient
		pattern, code string
		count         bool
	}{
		{nobody, "room.1", "permission_denied", false},
		{eve, "room.1", "permission_denied", true},
		{ada, "#", "no_presence", false},
		{nobody, "other", "no_presence", true},
		{ada, "*a", "bad_pattern", false},
	} {
		_, _, err := row.c.tryWatch("iterate", s.tenant, row.pattern, row.count)
		if err.ErrorCode() != row.code || err.Pattern != row.pattern || err.Tenant != s.tenant {
			s.t.Errorf("%s: watching %s: %+v, want %s, with the names", s.kind, row.pattern, err, row.code)
		}
	}
}

// When an edge drains, nobody sees its clients leave, nor do they.
func sdkDrainMembers(t *testing.T, lab *sdkLab) {
	caddyfile, join := withRooms(patientCaddyfile, "6s"), lab.joined()
	first := startEdge(t, caddyfile, join, forBrowsers)
	s := lab.stage(t, sdkKind{}, first, startEdge(t, caddyfile, join, withMaster(first), forBrowsers))
	var clients []*sdkClient
	var watches []*sdkWatch
	at := map[*sdkClient]string{} // their edges
	for _, kind := range sdkKinds {
		c := s.clientOf(kind)
		c.must(s.connecting(kind, sdkOptions{Token: s.subject(c.name, "").Token}))
		clients, at[c] = append(clients, c), c.event("connected").Edge
	}
	drained := s.edges[0]
	if at[clients[0]] != drained.httpsURL("") {
		drained = s.edges[1]
	}
	// One that does not move is gone when it has lingered.
	ghost := drained.dial(s.subject("ghost", "").Token)
	ghost.sendLine("JOIN:" + s.tenant + ":room.1")
	ghost.expectText("OK:JOIN:" + s.tenant + ":room.1")
	all := []string{"room.1/ghost"}
	for _, c := range clients {
		c.join(s.tenant, "room.1", "")
		all = append(all, "room.1/"+c.name)
		watches = append(watches, c.watch(s.tenant, "room.*", false))
	}
	for _, w := range watches {
		w.reach(all...)
	}
	drained.drainByAdminAPI()
	for _, c := range clients {
		if at[c] == drained.httpsURL("") {
			c.event("moved")
		}
	}
	ghost.expectText("RECONNECT")
	ghost.close()
	for _, w := range watches {
		w.want("left", "room.1", "ghost", "")
	}
	clients[0].join(s.tenant, "room.2", "")
	for _, w := range watches {
		w.want("joined", "room.2", clients[0].name, "")
	}
	for _, c := range clients {
		c.leave("room.1") // which it is only if it has joined on the other edge, too
		watches[0].want("left", "room.1", c.name, "")
	}
	for _, c := range clients {
		c.never("disconnected", "edgeError", "subscriptionError")
		c.close()
	}
}
