package nats

import (
	"fmt"
	"strings"
	"testing"

	client "github.com/nats-io/nats.go"

	"github.com/millrace/millrace/internal/natstest"
	"github.com/millrace/millrace/pubsub/history"
)

// Another edge has the senders of what it receives, and of what was stored before it came,
// which it reads without payloads first. What is in the place of a sender, and is none, is not
// a message.
func TestSendersOfOtherEdges(t *testing.T) {
	t.Parallel()
	s := natstest.Server(t)
	a, b := open(t, natstest.Connect(s)), open(t, natstest.Connect(s))
	define(t, a, definition("h"))
	follow(t, b, "h")
	senders := []string{"ann", "", " ann ", "Ännchen 😀", "\"", "\"\"", strings.Repeat("u", 128)}
	for i, sender := range senders {
		results := make(chan history.Result, 1)
		m := history.Message{History: "h", Tenant: "t", Channel: []byte("c"), Payload: fmt.Append(nil, i), Sender: []byte(sender)}
		m.Stored = func(_ *history.Message, r history.Result) { results <- r }
		if i%2 == 1 {
			m.Key = fmt.Append(nil, i)
		}
		a.Append(&m)
		if r := <-results; r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	nc, err := natstest.Connect(s)()
	must(t, err)
	defer nc.Close()
	for _, bad := range []client.Header{
		{"Millrace-Sender": {"ann"}}, {"Millrace-Sender": {`"`}}, {"Millrace-Sender": {""}}, {"Millrace-Sender": {"\"a\x01\""}}, {"Millrace-Sender": {"\"\xff\""}},
		{"Millrace-Sender": {`"` + strings.Repeat("u", 129) + `"`}}, {"Millrace-Sender": {`"ann"`, `"bob"`}},
	} {
		must(t, nc.PublishMsg(&client.Msg{Subject: "p.h.h.m.t.c.=", Header: bad, Data: []byte("bad")}))
	}
	must(t, nc.Flush())
	last := put(t, a, "h", "t", "c", "last")
	later := open(t, natstest.Connect(s))
	follow(t, later, "h")
	for name, edge := range map[string]*Store{"who stored": a, "who received": b, "who came later": later} {
		awaitHead(t, edge, "h", last)
		var got []string
		for _, m := range read(t, edge, query("h", "t", "#", 0)).Messages {
			got = append(got, fmt.Sprintf("%s %q", m.Payload, m.Sender))
		}
		var want []string
		for i, sender := range senders {
			want = append(want, fmt.Sprintf("%d %q", i, sender))
		}
		if want = append(want, `last ""`); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s has\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
