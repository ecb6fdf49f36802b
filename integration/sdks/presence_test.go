package sdks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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
}

// startWatch watches who is in room.*.
func startWatch(s *stage, c *sdk.Client, mode string, count bool) *watch {
	c.T.Helper()
	name, changes := c.Feed("w")
	c.Must(sdk.Command{Cmd: "presence", Watch: name, Mode: mode, Tenant: s.Tenant, Pattern: "room.*", Count: count})
	return &watch{c, name, changes}
}

// want requires that the next change is this one, of a member with this info.
func (w *watch) want(change, channel, subject, info string) {
	w.c.T.Helper()
	r, _ := w.changes.Next()
	var got bytes.Buffer
	m := r.MemberInfo
	if m != nil && len(m.Info) > 0 {
		_ = json.Compact(&got, m.Info) // what is no JSON is not as wanted
	}
	if m == nil || r.Type != change || m.Channel != channel || m.Subject != subject || m.Since == "" || got.String() != info {
		w.c.T.Fatalf("%s: got %v %s, want that %s %s %s with %s", w.c.Kind, r, w.changes.Why(), subject, change, channel, info)
	}
}

// counted takes changes until a channel has so many members.
func (w *watch) counted(channel string, n int) {
	w.c.T.Helper()
	if r, ok := w.changes.Take(func(r sdk.Report) bool { return r.Channel == channel && r.Count == n }); !ok || r.Type != "counts" {
		w.c.T.Fatalf("%s: got %v %s, want %d in %s", w.c.Kind, r, w.changes.Why(), n, channel)
	}
}

// shows requires what the client's own properties show: "channel/subject" and "channel:count".
func (w *watch) shows(want ...string) {
	w.c.T.Helper()
	r := w.c.Must(sdk.Command{Cmd: "members", Watch: w.name})
	var got []string
	for _, m := range r.Members {
		got = append(got, m.Channel+"/"+m.Subject)
	}
	for _, channel := range slices.Sorted(maps.Keys(r.Counts)) {
		got = append(got, fmt.Sprintf("%s:%d", channel, r.Counts[channel]))
	}
	if got = slices.DeleteFunc(got, func(of string) bool { return len(r.Members) > 0 && strings.Contains(of, ":") }); !r.Synced || !slices.Equal(got, want) {
		w.c.T.Errorf("%s: it shows %v, want %q", w.c.Kind, r, want)
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

// join joins a channel; the membership has the name of its channel.
func join(s *stage, c *sdk.Client, channel string) {
	s.T.Helper()
	c.Must(sdk.Command{Cmd: "join", Member: channel, Tenant: s.Tenant, Channel: channel})
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
	for channel, code := range map[string]string{"room.1": "no_subject", "other": "no_presence", "room.*": "bad_channel"} {
		c := map[bool]*sdk.Client{true: nobody, false: ada}[code == "no_subject"]
		err := c.Refused(sdk.Command{Cmd: "join", Member: "none", Tenant: s.Tenant, Channel: channel}, code)
		if err.Tenant != s.Tenant || err.Channel != channel {
			s.T.Errorf("joining %s: %+v, want the names", channel, err)
		}
	}
	name, _ := nobody.Feed("w")
	err := nobody.Refused(sdk.Command{Cmd: "presence", Watch: name, Mode: "held", Tenant: s.Tenant, Pattern: "room.1"}, "permission_denied")
	if err.Tenant != s.Tenant || err.Pattern != "room.1" {
		s.T.Errorf("watching: %+v, want the names", err)
	}

	rooms, counts := startWatch(s, watcher, "iterate", false), startWatch(s, nobody, "iterate", true)
	join(s, ada, "room.1")
	rooms.want("joined", "room.1", "ada", adaInfo)
	join(s, twin, "room.1")
	rooms.want("changed", "room.1", "ada", twinInfo)
	join(s, bob, "room.2")
	rooms.want("joined", "room.2", "bob", "")
	counts.counted("room.1", 1)
	counts.counted("room.2", 1)
	rooms.shows("room.1/ada", "room.2/bob")
	counts.shows("room.1:1", "room.2:1")
	leave(ada, "room.1")
	ada.Must(sdk.Command{Cmd: "leave", Member: "room.1"}) // once more
	leave(twin, "room.1")
	rooms.want("left", "room.1", "ada", twinInfo)
	counts.counted("room.1", 0)

	// What nobody reads is put together.
	held := startWatch(s, watcher, "held", false)
	for _, channel := range []string{"room.3", "room.4"} {
		join(s, ada, channel)
		rooms.want("joined", channel, "ada", adaInfo)
	}
	leave(ada, "room.3")
	rooms.want("left", "room.3", "ada", adaInfo)
	watcher.Must(sdk.Command{Cmd: "read", Watch: held.name})
	held.want("joined", "room.4", "ada", adaInfo)
	held.end()

	if !history.SdkLacks("reconnect") {
		for i, c := range []*sdk.Client{ada, watcher} {
			disconnect(s, tokens[i].TokenID)
			c.Event("disconnected")
			c.Event("reconnected")
		}
	}
	join(s, bob, "room.5")
	rooms.want("joined", "room.5", "bob", "") // and nothing before
	leave(ada, "room.4")                      // which is seen only if it has joined again
	rooms.want("left", "room.4", "ada", adaInfo)
	rooms.shows("room.2/bob", "room.5/bob")
	rooms.end()
	for _, c := range []*sdk.Client{ada, watcher, nobody} {
		c.Never("edgeError", "subscriptionError")
	}
}
