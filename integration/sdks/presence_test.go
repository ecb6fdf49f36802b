package sdks

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// sdkPresenceCaddyfile is an edge on which members linger longer than any test waits: who is
// seen to leave has said so.
var sdkPresenceCaddyfile = withRooms(harness.DefaultCaddyfile, "10m")

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

// watch watches who is present, and reads the changes as they come.
func watch(c *sdk.Client, tenant, pattern string, count bool) *sdk.Watch {
	c.T.Helper()
	return watchAs(c, "iterate", tenant, pattern, count)
}

func watchAs(c *sdk.Client, mode, tenant, pattern string, count bool) *sdk.Watch {
	c.T.Helper()
	w, r, err := tryWatch(c, mode, tenant, pattern, count)
	if err != nil {
		c.T.Fatalf("%s: presence %s %s: %v; events: %v", c.Kind, tenant, pattern, err, c.Events.Rest())
	}
	if !r.Synced || count && len(r.Members) > 0 {
		c.T.Errorf("%s: a new presence shows %v", c.Kind, r)
	}
	if w.Shown = namesOf(r.Members); count {
		w.Shown = countsOf(r.Counts)
	}
	return w
}

func tryWatch(c *sdk.Client, mode, tenant, pattern string, count bool) (*sdk.Watch, sdk.Report, *sdk.Error) {
	c.T.Helper()
	c.Mu.Lock()
	w := &sdk.Watch{C: c, Name: fmt.Sprintf("w%d", len(c.Watches)), Changes: sdk.NewMailbox(), Shown: nil}
	c.Watches[w.Name] = w
	if c.Failed != nil {
		w.Changes.Fail(c.Failed)
	}
	c.Mu.Unlock()
	r, err := c.Try(sdk.Command{Cmd: "presence", Watch: w.Name, Mode: mode, Tenant: tenant, Pattern: pattern, Count: count})
	return w, r, err
}

func namesOf(members []sdk.Member) (names []string) {
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
func next(w *sdk.Watch) sdk.Report {
	w.C.T.Helper()
	r, ok := w.Changes.Take(func(sdk.Report) bool { return true })
	switch {
	case !ok:
		w.C.T.Fatalf("%s: no change %s; it shows %q; events: %v", w.C.Kind, w.Changes.Why(), w.Shown, w.C.Events.Rest())
	case r.Event != "presenceChange":
		w.C.T.Fatalf("%s: the presence ended: %v", w.C.Kind, r.Error)
	case r.Type == "counts":
		w.Shown = slices.DeleteFunc(w.Shown, func(of string) bool { return strings.HasPrefix(of, r.Channel+":") })
		if r.Count > 0 {
			w.Shown = append(w.Shown, fmt.Sprintf("%s:%d", r.Channel, r.Count))
		}
	case r.MemberInfo == nil:
		w.C.T.Fatalf("%s: a change of nobody: %v", w.C.Kind, r)
	default:
		name := r.MemberInfo.Channel + "/" + r.MemberInfo.Subject
		i, found := slices.BinarySearch(w.Shown, name)
		switch {
		case found != (r.Type != "joined"):
			w.C.T.Fatalf("%s: %v, but it shows %q", w.C.Kind, r, w.Shown)
		case r.Type == "joined":
			w.Shown = slices.Insert(w.Shown, i, name)
		case r.Type == "left":
			w.Shown = slices.Delete(w.Shown, i, i+1)
		}
	}
	slices.Sort(w.Shown)
	return r
}

// want requires that the next change is this one, of a member with this info.
func want(w *sdk.Watch, change, channel, subject, info string) {
	w.C.T.Helper()
	r := next(w)
	m := r.MemberInfo
	if r.Type != change || m == nil || m.Channel != channel || m.Subject != subject || !sameJSON(m.Info, info) {
		w.C.T.Fatalf("%s: got %v, want that %s %s %s with %s; events: %v", w.C.Kind, r, subject, change, channel, info, w.C.Events.Rest())
	}
	if since, err := time.Parse(time.RFC3339, m.Since); err != nil || time.Since(since).Abs() > time.Hour {
		w.C.T.Errorf("%s: a member since %s (%v)", w.C.Kind, m.Since, err)
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
func reach(w *sdk.Watch, shown ...string) {
	w.C.T.Helper()
	slices.Sort(shown)
	for !slices.Equal(w.Shown, shown) {
		next(w)
	}
}

// wantShown requires that the client's own properties show this, and that it is synced.
func wantShown(w *sdk.Watch, members []string, counts map[string]int) {
	w.C.T.Helper()
	r := w.C.Must(sdk.Command{Cmd: "members", Watch: w.Name})
	if !r.Synced || !slices.Equal(namesOf(r.Members), members) || !maps.Equal(r.Counts, counts) {
		w.C.T.Errorf("%s: it shows %v, want %q and %v", w.C.Kind, r, members, counts)
	}
}

// end closes it, and requires that nothing has come that was not awaited.
func end(w *sdk.Watch) {
	w.C.T.Helper()
	w.C.Must(sdk.Command{Cmd: "closePresence", Watch: w.Name})
	if r, ok := w.Changes.Take(func(sdk.Report) bool { return true }); !ok || r.Event != "presenceEnded" || r.Error != nil {
		w.C.T.Errorf("%s: got %v, want the end of the presence", w.C.Kind, r)
	}
}

// subject issues a token of a subject, who may watch who is present.
func subject(s *sdk.Stage, name, info string) harness.Issued {
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

// Who joins is seen, by name and by number, until the last session of the subject has left; and
// losses of the connection are not seen at all.
func sdkPresence(s *sdk.Stage) {
	const adaInfo, olderAda = `{"name":"Ada","device":1}`, `{"name":"Ada","device":2}`
	tokens := map[string]harness.Issued{"ada": subject(s, "ada", adaInfo), "watcher": subject(s, "watcher", "")}
	ada, watcher := s.Connect(sdk.Options{Token: tokens["ada"].Token}), s.Connect(sdk.Options{Token: tokens["watcher"].Token})
	twin, bob := s.Connect(sdk.Options{Token: subject(s, "ada", olderAda).Token}), s.Connect(sdk.Options{Token: subject(s, "bob", "").Token})
	nobody := s.Connect(sdk.Options{})
	sdkPresenceErrors(s, ada, bob, nobody)

	rooms := watch(watcher, s.Tenant, "room.*", false)
	counts := watch(nobody, s.Tenant, "room.*", true)
	if len(rooms.Shown)+len(counts.Shown) > 0 {
		s.T.Errorf("%s: nobody is there, and it shows %q and %q", s.Kind, rooms.Shown, counts.Shown)
	}
	ada.Join(s.Tenant, "room.1", "")
	want(rooms, "joined", "room.1", "ada", adaInfo)
	ada.Join(s.Tenant, "room.1", " again")
	twin.Join(s.Tenant, "room.1", "")
	want(rooms, "changed", "room.1", "ada", olderAda)
	bob.Join(s.Tenant, "room.2", "")
	want(rooms, "joined", "room.2", "bob", "")
	reach(counts, "room.1:1", "room.2:1")
	wantShown(rooms, []string{"room.1/ada", "room.2/bob"}, map[string]int{"room.1": 1, "room.2": 1})
	wantShown(counts, nil, map[string]int{"room.1": 1, "room.2": 1})

	ada.Leave("room.1")
	ada.Must(sdk.Command{Cmd: "leave", Member: "room.1"})
	ada.Leave("room.1 again")
	bob.Join(s.Tenant, "room.1", "")
	want(rooms, "joined", "room.1", "bob", "")
	twin.Leave("room.1")
	want(rooms, "left", "room.1", "ada", olderAda)

	// What nobody reads is put together.
	held := watchAs(watcher, "held", s.Tenant, "room.*", false)
	if !slices.Equal(held.Shown, []string{"room.1/bob", "room.2/bob"}) {
		s.T.Errorf("%s: another presence begins with %q", s.Kind, held.Shown)
	}
	ada.Join(s.Tenant, "room.3", "")
	want(rooms, "joined", "room.3", "ada", adaInfo)
	ada.Leave("room.3")
	want(rooms, "left", "room.3", "ada", adaInfo)
	ada.Join(s.Tenant, "room.4", "")
	want(rooms, "joined", "room.4", "ada", adaInfo)
	watcher.Must(sdk.Command{Cmd: "read", Watch: held.Name})
	want(held, "joined", "room.4", "ada", adaInfo)
	end(held)
	reach(counts, "room.1:1", "room.2:1", "room.4:1")

	if !history.SdkLacks("reconnect") {
		for name, c := range map[string]*sdk.Client{"ada": ada, "watcher": watcher} {
			var done harness.Object
			s.Edges[0].AdminCall("POST", "/pubsub/connections/disconnect", harness.Object{"token_id": tokens[name].TokenID}).Decode(s.T, http.StatusOK, &done)
			c.Event("disconnected")
			c.Event("reconnected")
		}
		bob.Join(s.Tenant, "room.5", "")
		want(rooms, "joined", "room.5", "bob", "") // and nothing before
		ada.Leave("room.4")                        // which it does only if it has joined again
		want(rooms, "left", "room.4", "ada", adaInfo)
		wantShown(rooms, []string{"room.1/bob", "room.2/bob", "room.5/bob"}, map[string]int{"room.1": 1, "room.2": 1, "room.5": 1})
	} else {
		ada.Leave("room.4")
		want(rooms, "left", "room.4", "ada", adaInfo)
	}
	if n := ada.Count("membershipEnded"); n != 5 {
		s.T.Errorf("%s: %d memberships have ended, want those 5 that were left", s.Kind, n)
	}
	for _, channel := range []string{"room.1", "room.2"} {
		bob.Leave(channel)
		want(rooms, "left", channel, "bob", "")
	}
	if !history.SdkLacks("reconnect") {
		bob.Leave("room.5")
		want(rooms, "left", "room.5", "bob", "")
	}
	wantShown(rooms, nil, nil)
	end(rooms)
	reach(counts)
	end(counts)
	for _, c := range []*sdk.Client{ada, watcher, nobody} {
		c.Never("edgeError", "subscriptionError")
	}
}

// sdkPresenceErrors tries what may not be.
func sdkPresenceErrors(s *sdk.Stage, ada, bob, nobody *sdk.Client) {
	request := harness.TokenRequest(harness.Grant(s.Room, []string{"out.#"}, []string{"in.#"}))
	request["subject"] = "eve"
	eve := s.Connect(sdk.Options{Token: s.Edges[0].IssueAs(s.Edges[0].Master, request).Token})
	ada.Join(s.Tenant, "few.1", "")
	for _, row := range []struct {
		c             *sdk.Client
		channel, code string
	}{
		{nobody, "room.1", "no_subject"},
		{eve, "room.1", "permission_denied"},
		{ada, "other", "no_presence"},
		{bob, "few.1", "too_many_members"},
		{ada, "room.*", "bad_channel"},
	} {
		_, err := row.c.Try(sdk.Command{Cmd: "join", Member: "none", Tenant: s.Tenant, Channel: row.channel})
		if err.ErrorCode() != row.code || err.Channel != row.channel || err.Tenant != s.Tenant {
			s.T.Errorf("%s: joining %s: %+v, want %s, with the names", s.Kind, row.channel, err, row.code)
		}
	}
	ada.Leave("few.1")
	for _, row := range []struct {
		c             *sdk.Client
		pattern, code string
		count         bool
	}{
		{nobody, "room.1", "permission_denied", false},
		{eve, "room.1", "permission_denied", true},
		{ada, "#", "no_presence", false},
		{nobody, "other", "no_presence", true},
		{ada, "*a", "bad_pattern", false},
	} {
		_, _, err := tryWatch(row.c, "iterate", s.Tenant, row.pattern, row.count)
		if err.ErrorCode() != row.code || err.Pattern != row.pattern || err.Tenant != s.Tenant {
			s.T.Errorf("%s: watching %s: %+v, want %s, with the names", s.Kind, row.pattern, err, row.code)
		}
	}
}

// When an edge drains, nobody sees its clients leave, nor do they.
func sdkDrainMembers(t *testing.T, lab *sdk.Lab) {
	caddyfile, join := withRooms(harness.PatientCaddyfile, "6s"), lab.Joined()
	first := harness.StartEdge(t, caddyfile, join, harness.ForBrowsers)
	s := lab.Stage(t, sdk.Kind{}, first, harness.StartEdge(t, caddyfile, join, harness.WithMaster(first), harness.ForBrowsers))
	var clients []*sdk.Client
	var watches []*sdk.Watch
	at := map[*sdk.Client]string{} // their edges
	for _, kind := range sdk.Kinds {
		c := s.ClientOf(kind)
		c.Must(s.Connecting(kind, sdk.Options{Token: subject(s, c.Name, "").Token}))
		clients, at[c] = append(clients, c), c.Event("connected").Edge
	}
	drained := s.Edges[0]
	if at[clients[0]] != drained.HttpsURL("") {
		drained = s.Edges[1]
	}
	// One that does not move is gone when it has lingered.
	ghost := drained.Dial(subject(s, "ghost", "").Token)
	ghost.SendLine("JOIN:" + s.Tenant + ":room.1")
	ghost.ExpectText("OK:JOIN:" + s.Tenant + ":room.1")
	all := []string{"room.1/ghost"}
	for _, c := range clients {
		c.Join(s.Tenant, "room.1", "")
		all = append(all, "room.1/"+c.Name)
		watches = append(watches, watch(c, s.Tenant, "room.*", false))
	}
	for _, w := range watches {
		reach(w, all...)
	}
	drained.DrainByAdminAPI()
	for _, c := range clients {
		if at[c] == drained.HttpsURL("") {
			c.Event("moved")
		}
	}
	ghost.ExpectText("RECONNECT")
	ghost.Close()
	for _, w := range watches {
		want(w, "left", "room.1", "ghost", "")
	}
	clients[0].Join(s.Tenant, "room.2", "")
	for _, w := range watches {
		want(w, "joined", "room.2", clients[0].Name, "")
	}
	for _, c := range clients {
		c.Leave("room.1") // which it is only if it has joined on the other edge, too
		want(watches[0], "left", "room.1", c.Name, "")
	}
	for _, c := range clients {
		c.Never("disconnected", "edgeError", "subscriptionError")
		c.Close()
	}
}
