package sdks

import (
	"fmt"
	"strings"

	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// shown is a member, in short.
func shown(m sdk.Member) string {
	return m.Channel + "/" + m.Subject + strings.ReplaceAll(string(m.Info), " ", "")
}

// brings requires this change of a presence.
func brings(s *stage, changes *sdk.Mailbox, want string) {
	s.T.Helper()
	r, _ := changes.Next()
	got := fmt.Sprintf("counts %s:%d", r.Channel, r.Count)
	if r.MemberInfo != nil {
		got = r.Type + " " + shown(*r.MemberInfo)
	}
	if got != want {
		s.T.Fatalf("%s: got %v %s, want %s", s.Kind, r, changes.Why(), want)
	}
}

// Who joins is seen, by name and by number, until the last session of the subject has left; and
// losses of the connection are not seen at all.
func presence(s *stage) {
	tokens := map[string]string{}
	as := func(subject, info string) *sdk.Client {
		tokens[subject] = s.Edges[0].SubjectToken(subject, info, s.Room)
		return s.Connect(sdk.Options{Token: tokens[subject]})
	}
	join := func(channel string) sdk.Command {
		return sdk.Command{Cmd: "join", Member: channel, Tenant: s.Tenant, Channel: channel}
	}
	leave := func(c *sdk.Client, member string) {
		s.T.Helper()
		c.Must(sdk.Command{Cmd: "leave", Member: member})
		c.EventThat(func(r sdk.Report) bool { return r.Member == member && r.Error == nil }, "membershipEnded")
	}
	twin, ada, bob, watcher := as("ada", "2"), as("ada", "1"), as("bob", ""), as("watcher", "")
	nobody := s.Connect(sdk.Options{})
	nobody.Refused(join("room.1"), "no_subject")
	ada.Refused(join("other"), "no_presence")
	name, rooms := watcher.Feed("w")
	watch := sdk.Command{Cmd: "presence", Watch: name, Tenant: s.Tenant, Pattern: "room.*"}
	if err := nobody.Refused(watch, "permission_denied"); err.Tenant != s.Tenant || err.Pattern != "room.*" {
		s.T.Errorf("watching: %+v, want the names", err)
	}
	watcher.Must(watch)
	_, counts := nobody.Feed("w")
	watch.Count = true
	nobody.Must(watch)

	ada.Must(join("room.1"))
	brings(s, rooms, `joined room.1/ada{"name":"1"}`)
	brings(s, counts, "counts room.1:1")
	twin.Must(join("room.1"))
	brings(s, rooms, `changed room.1/ada{"name":"2"}`)
	leave(ada, "room.1")
	leave(twin, "room.1")
	brings(s, rooms, `left room.1/ada{"name":"2"}`)
	brings(s, counts, "counts room.1:0")
	ada.Must(join("room.4"))
	brings(s, rooms, `joined room.4/ada{"name":"1"}`)
	if !history.SdkLacks("reconnect") {
		for subject, c := range map[string]*sdk.Client{"ada": ada, "watcher": watcher} {
			s.disconnect(tokens[subject])
			c.Event("disconnected")
			c.Event("reconnected")
		}
	}
	bob.Must(join("room.5"))
	brings(s, rooms, "joined room.5/bob") // and nothing before
	leave(ada, "room.4")                  // which is seen only if it has joined again
	brings(s, rooms, `left room.4/ada{"name":"1"}`)
	r := watcher.Must(sdk.Command{Cmd: "members", Watch: name})
	if !r.Synced || len(r.Members) != 1 || shown(r.Members[0]) != "room.5/bob" {
		s.T.Errorf("%s: it shows %v, want bob", s.Kind, r)
	}
	watcher.Must(sdk.Command{Cmd: "closePresence", Watch: name})
	if r, ok := rooms.Next(); !ok || r.Event != "presenceEnded" || r.Error != nil {
		s.T.Errorf("%s: got %v, want the end of the presence", s.Kind, r)
	}
	ada.Never("edgeError", "subscriptionError")
	watcher.Never("edgeError", "subscriptionError")
}
