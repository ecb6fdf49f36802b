package harness

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"
)

// LineStream is a unidirectional stream of the client. Its methods fail the
// test instead of returning errors.
type LineStream struct {
	t *testing.T
	*webtransport.SendStream
}

// OpenLines opens a unidirectional stream.
func (s *Socket) OpenLines() LineStream {
	s.T.Helper()
	return LineStream{s.T, value(s.Wt().Session.OpenUniStream())(s.T)}
}

func (l LineStream) Send(text string) {
	l.t.Helper()
	must(l.t, l.SetWriteDeadline(time.Now().Add(WaitTimeout)))
	value(io.WriteString(l.SendStream, text))(l.t)
}

// OwnStream is the U stream of one subscription.
type OwnStream struct {
	T      *testing.T
	stream *webtransport.ReceiveStream
	reader *bufio.Reader
}

// SubscribeOwn subscribes with a stream of its own, which starts with its OK.
func (s *Socket) SubscribeOwn(l LineStream, tenant, pattern string) *OwnStream {
	s.T.Helper()
	l.Send("SUB:U:" + tenant + ":" + pattern + "\n")
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	stream := value(s.Wt().Session.AcceptUniStream(ctx))(s.T)
	u := &OwnStream{s.T, stream, bufio.NewReader(stream)}
	if got := u.Next(); string(got) != "OK:SUB:"+tenant+":"+pattern {
		s.T.Fatalf("the stream starts with %q, want OK:SUB:%s:%s", got, tenant, pattern)
	}
	return u
}

// Next returns the next message; nil at the stream's end.
func (u *OwnStream) Next() []byte {
	u.T.Helper()
	must(u.T, u.stream.SetReadDeadline(time.Now().Add(WaitTimeout)))
	message, err := ReadMessage(u.reader)
	if errors.Is(err, io.EOF) {
		return nil
	}
	must(u.T, err)
	return message
}
