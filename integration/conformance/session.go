package conformance

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

func publishAndSubscribe(c *harness.Stage) {
	token := c.Room()
	pub, sub := c.Publisher(token), c.Hearing(c.DialBrowser(token))
	sub.Subscribe("paint.room", "#", "a.*")
	pub.Publish("paint.room", "a.b", "hello")
	pub.Publish("paint.room", "c", "")
	sub.ExpectDeliver("paint.room", "a.b", "hello", "#", "a.*")
	sub.ExpectDeliver("paint.room", "c", "", "#")
	pub.Ping()
	c.Settle(pub, sub)
	sub.Close()
	pub.Close()
}

// What a client sends and the answers to it, on a connection that stays open: packages wire
// and pubsub have every form, these are one of each kind, and the bytes on the wire.
func linesAndFrames(c *harness.Stage) {
	// Publishes anywhere, subscribes below news only.
	token := c.Issue(harness.Grant("paint.room", []string{"#"}, []string{"news.#"}), harness.Grant("paint.read", nil, []string{"#"})).Token
	s := c.Dial(token)
	line1024 := "SUB:paint.room:" + strings.Repeat("a", 1024-len("SUB:paint.room:"))
	publish := func(tenant, channel, payload string) string {
		return string(harness.RawPublish(tenant, channel, payload))
	}
	for _, row := range []struct {
		kind    int
		message string
		want    string // a line; empty: nothing
	}{
		{harness.AsText, "PING\r\n", "PONG"},
		{harness.AsText, "PONG", ""},
		{harness.AsText, "SUB:paint.room:news.*\n", "OK:SUB:paint.room:news.*"},
		{harness.AsText, "UNSUB:paint.other:x", "OK:UNSUB:paint.other:x"},
		{harness.AsText, "UNSUB::x", "OK:UNSUB:~:x"},
		{harness.AsText, "SUB:paint.other:x", "ERR:permission_denied:SUB:paint.other:x"},
		{harness.AsText, "SUB:paint.room:#", "ERR:permission_denied:SUB:paint.room:#"},
		{harness.AsText, "SUB:paint room:x", "ERR:bad_tenant"},
		{harness.AsText, "SUB:paint.room:a..b", "ERR:bad_pattern"},
		{harness.AsText, line1024, "ERR:bad_pattern"}, // it is understood
		{harness.AsText, line1024 + "a", "ERR:bad_request"},
		{harness.AsText, "sub:paint.room:news", "ERR:bad_request"},
		{harness.AsText, "AUTH:" + token, "ERR:bad_request"},
		{harness.AsFrame, string(harness.RawDeliver("paint.room", "news", "x", "news")), "ERR:bad_frame"},
		{harness.AsFrame, "\x02\x03" + publish("paint.room", "news", "x"), "ERR:bad_frame"},
		{harness.AsFrame, publish("paint room", "news", "x"), "ERR:bad_tenant"},
		{harness.AsFrame, publish("paint.room", "news.*", "x"), "ERR:bad_channel"},
		{harness.AsFrame, publish("paint.other", "news", "x"), "ERR:permission_denied:PUB:paint.other:news"},
		{harness.AsFrame, "\x02\x01" + publish("paint.read", "a.b", "x"), "ERR:permission_denied:PUB:paint.read:a.b"},
		{harness.AsFrame, publish("paint.room", "news", "nobody hears it"), ""},
		{harness.AsFrame, publish("paint.room", "news", strings.Repeat("p", 64<<10)), ""},
		{harness.AsFrame, publish("paint.room", "news", strings.Repeat("p", 64<<10+1)), "ERR:payload_too_large:PUB:paint.room:news"},
	} {
		s.Send(row.kind, []byte(row.message))
		if row.want != "" {
			s.ExpectText(row.want)
		}
		s.Fence() // which would overtake no OK, and is well-formed: the broken ones are not in a row
	}
	s.SendFrame(harness.RawPublish("paint.room", "news.x", "\x00\xffhello"))
	kind, got, err := s.Read()
	if want := harness.RawDeliver("paint.room", "news.x", "\x00\xffhello", "news.*"); err != nil || kind != harness.AsFrame || !bytes.Equal(got, want) {
		c.T.Errorf("got kind %d, error %v, frame\n%x, want\n%x", kind, err, got, want)
	}
}

func messagesThatClose(c *harness.Stage) {
	token := c.Room()
	over := strings.Repeat("a", 64<<10+4096+1)
	for _, row := range []struct {
		kind    int
		message string
		code    wire.CloseCode
	}{
		{harness.AsText, "SUB:paint.room:\xff", wire.CloseInvalidUTF8},
		{harness.AsText, over, wire.CloseTooBig},
		{harness.AsFrame, string(harness.RawPublish("paint.room", "x", over)), wire.CloseTooBig},
	} {
		s := c.Dial(token)
		_ = s.Write(row.kind, []byte(row.message)) // the edge may close before it has taken all
		s.ExpectClose(row.code)
	}
	// 16 broken messages in a row, which only what is well-formed interrupts.
	s := c.Dial(token)
	for i := range 31 {
		switch {
		case i == 15:
			s.Subscribe("paint.room", "x")
		case i%2 == 0:
			s.SendFrame([]byte("\x07"))
			s.ExpectText("ERR:bad_frame")
		default:
			s.SendLine("nonsense")
			s.ExpectText("ERR:bad_request")
		}
		if i < 30 {
			s.Ping()
		}
	}
	s.SendLine("nonsense")
	s.ExpectText("ERR:bad_request")
	s.ExpectClose(wire.ClosePolicy)
}

// An ingress cap slows a client down, and loses nothing.
func ingressCap(c *harness.Stage) {
	publisher := c.Publisher(c.Limited(harness.Object{"ingress_kb_per_sec": 8}))
	subscriber := c.Subscriber(c.Room())
	subscriber.Subscribe("paint.room", "#")
	const messages, size = 16, 1024 - 32 // which count as 1 KiB each
	payload := strings.Repeat("p", size-len(harness.RawPublish("paint.room", "c00", "")))
	begin := time.Now()
	for i := range messages {
		publisher.Publish("paint.room", fmt.Sprintf("c%02d", i), payload)
	}
	for i := range messages {
		subscriber.ExpectDeliver("paint.room", fmt.Sprintf("c%02d", i), payload, "#")
	}
	c.Settle(publisher, subscriber)
	// The first 8 KiB pass at once, and the last may be owed.
	if took := time.Since(begin); took < 800*time.Millisecond {
		c.T.Errorf("16 KiB at 8 KiB/s took %v, want about 1 s", took)
	}
}
