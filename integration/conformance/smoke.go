package conformance

import (
	"bytes"

	"github.com/millrace/millrace/integration/harness"
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
	c.Stop()
}

// The bytes on the wire are those of docs/protocol.md, not only what our codec
// makes of them.
func framesToTheByte(c *harness.Stage) {
	s := c.Dial(c.Room())
	s.Subscribe("paint.room", "a.>")
	s.SendFrame(harness.RawPublish("paint.room", "a.b", "\x00\xffhello"))
	kind, got, err := s.Read()
	if want := harness.RawDeliver("paint.room", "a.b", "\x00\xffhello", "a.>"); err != nil || kind != harness.AsFrame || !bytes.Equal(got, want) {
		c.T.Errorf("got kind %d, error %v, frame\n%x, want\n%x", kind, err, got, want)
	}
}
