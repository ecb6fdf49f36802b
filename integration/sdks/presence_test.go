package sdks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

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

// change is a change that a presence brings, in short.
func change(r sdk.Report) string {
	if r.MemberInfo == nil {
		return fmt.Sprintf("%s %s:%d", r.Type, r.Channel, r.Count)
	}
	var info bytes.Buffer
	_ = json.Compact(&info, r.MemberInfo.Info) // what is no JSON is not as wanted
	return fmt.Sprintf("%s %s/%s%s", r.Type, r.MemberInfo.Channel, r.MemberInfo.Subject, &info)
}

// Who joins is seen, by name and by number, until the last session of the subject has left; and
// losses of the connection are not seen at all.
func presence(s *stage) {
	const adaInfo, twinInfo = `{"name":"Ada","device":1}`, `{"name":"Ada","device":2}`
	tokens := []harness.Issued{subject(s, "ada", adaInfo), subject(s, "watcher", "")}
	ada, watcher := s.Connect(sdk.Options{Token: tokens[0].Token}), s.Connect(sdk.Options{Token: tokens[1].Token})
	twin, bob := s.Connect(sdk.Options{Token: subject(s, "ada", twinInfo).Token}), s.Connect(sdk.Options{Token: subject(s, "bob", "").Token})
	nobody := s.Connect(sdk.Options{})
	watch := func(c *sdk.Client, count bool) (sdk.Command, *sdk.Mailbox) {
		name, changes := c.Feed("w")
		return sdk.Command{Cmd: "presence", Watch: name, Tenant: s.Tenant, Pattern: "room.*", Count: count}, changes
	}
	want := func(changes *sdk.Mailbox, wanted ...string) {
		s.T.Helper()
		for _, want := range wanted {
			if r, _ := changes.Next(); change(r) != want {
				s.T.Fatalf("%s: got %v %s, want %s", s.Kind, r, changes.Why(), want)
			}
		}
	}
	join := func(channel string) sdk.Command {
		return sdk.Command{Cmd: "join", Member: channel, Tenant: s.Tenant, Channel: channel}
	}
	leave := func(c *sdk.Client, member string) {
		s.T.Helper()
		c.Must(sdk.Command{Cmd: "leave", Member: member})
		c.EventThat(func(r sdk.Report) bool { return r.Member == member && r.Error == nil }, "membershipEnded")
	}
	nobody.Refused(join("room.1"), "no_subject")
	if err := ada.Refused(join("other"), "no_presence"); err.Tenant != s.Tenant || err.Channel != "other" {
		s.T.Errorf("joining: %+v, want the names", err)
	}
	command, _ := watch(nobody, false)
	if err := nobody.Refused(command, "permission_denied"); err.Tenant != s.Tenant || err.Pattern != "room.*" {
		s.T.Errorf("watching: %+v, want the names", err)
	}

	command, counts := watch(nobody, true)
	nobody.Must(command)
	command, rooms := watch(watcher, false)
	watcher.Must(command)
	ada.Must(join("room.1"))
	want(rooms, "joined room.1/ada"+adaInfo)
	want(counts, "counts room.1:1")
	twin.Must(join("room.1"))
	want(rooms, "changed room.1/ada"+twinInfo)
	bob.Must(join("room.2"))
	want(rooms, "joined room.2/bob")
	want(counts, "counts room.2:1")
	leave(ada, "room.1")
	leave(twin, "room.1")
	want(rooms, "left room.1/ada"+twinInfo)
	want(counts, "counts room.1:0")
	ada.Must(join("room.4"))
	want(rooms, "joined room.4/ada"+adaInfo)
	if !history.SdkLacks("reconnect") {
		for i, c := range []*sdk.Client{ada, watcher} {
			disconnect(s, tokens[i].TokenID)
			c.Event("disconnected")
			c.Event("reconnected")
		}
	}
	bob.Must(join("room.5"))
	want(rooms, "joined room.5/bob") // and nothing before
	leave(ada, "room.4")             // which is seen only if it has joined again
	want(rooms, "left room.4/ada"+adaInfo)
	r := watcher.Must(sdk.Command{Cmd: "members", Watch: command.Watch})
	var shown []string
	for _, m := range r.Members {
		shown = append(shown, m.Channel+"/"+m.Subject)
	}
	if !r.Synced || !slices.Equal(shown, []string{"room.2/bob", "room.5/bob"}) {
		s.T.Errorf("%s: it shows %v, want bob twice", s.Kind, r)
	}
	watcher.Must(sdk.Command{Cmd: "closePresence", Watch: command.Watch})
	if r, ok := rooms.Next(); !ok || r.Event != "presenceEnded" || r.Error != nil {
		s.T.Errorf("%s: got %v, want the end of the presence", s.Kind, r)
	}
	for _, c := range []*sdk.Client{ada, watcher, nobody} {
		c.Never("edgeError", "subscriptionError")
	}
}
