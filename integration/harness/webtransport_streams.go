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
	stream, err := s.Wt().Session.OpenUniStream()
	s.Must(err)
	return LineStream{s.T, stream}
}

func (l LineStream) Send(text string) {
	l.t.Helper()
	if err := l.SetWriteDeadline(time.Now().Add(WaitTimeout)); err != nil {
		l.t.Fatal(err)
	}
	if _, err := io.WriteString(l.SendStream, text); err != nil {
		l.t.Fatal(err)
	}
}

// OwnStream is the U stream of one subscription.
type OwnStream struct {
	T      *testing.T
	stream *webtransport.ReceiveStream
	reader *bufio.Reader
}

// AcceptOwn takes the next U stream, which starts with its OK.
func (s *Socket) AcceptOwn(tenant, pattern string) *OwnStream {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), WaitTimeout)
	defer cancel()
	stream, err := s.Wt().Session.AcceptUniStream(ctx)
	s.Must(err)
	u := &OwnStream{s.T, stream, bufio.NewReader(stream)}
	if got := u.Next(); string(got) != "OK:SUB:"+tenant+":"+pattern {
		s.T.Fatalf("the stream starts with %q, want OK:SUB:%s:%s", got, tenant, pattern)
	}
	return u
}

// SubscribeOwn subscribes with a stream of its own.
func (s *Socket) SubscribeOwn(l LineStream, tenant, pattern string) *OwnStream {
	s.T.Helper()
	l.Send("SUB:U:" + tenant + ":" + pattern + "\n")
	return s.AcceptOwn(tenant, pattern)
}

// Next returns the next message; nil at the stream's end.
func (u *OwnStream) Next() []byte {
	u.T.Helper()
	if err := u.stream.SetReadDeadline(time.Now().Add(WaitTimeout)); err != nil {
		u.T.Fatal(err)
	}
	message, err := ReadMessage(u.reader)
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		u.T.Fatal(err)
	}
	return message
}
