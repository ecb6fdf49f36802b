package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/webtransport-go"

	"github.com/millrace/millrace/integration/conformance"
	"github.com/millrace/millrace/integration/harness"
	wtconn "github.com/millrace/millrace/pubsub/webtransport"
	"github.com/millrace/millrace/wire"
)

const (
	manyStreams = 10_000
	// quicStreams is how many streams of a kind a connection may have at the same
	// time (caddymodule/takeover).
	quicStreams = 100
	// streamCost is what an open stream without data costs the edge, in KiB.
	streamCost = 8
)

// refusedStream is the code with which the edge resets streams that it refuses.
const refusedStream = webtransport.StreamErrorCode(wire.ClosePolicy)

// A client with a valid token opens streams without end.
func TestHostileStreams(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, conformance.Unthrottled)
	calm := e.StartCalm()
	token := e.Issue(harness.AllowAll("room")).Token
	before := e.Memory()

	bidi, uni, endless := e.DialWebTransport(token), e.DialWebTransport(token), e.DialWebTransport(token)
	for _, s := range []*harness.Socket{bidi, uni, endless} {
		s.Subscribe("paint.room", "#")
	}
	bound := 3*(harness.ConnectionCost+harness.ConnectionWindow) + harness.EdgeNoise

	// Bidirectional streams beside the main one: each is reset.
	if err := manyTimes(func() error { return resetOf(bidi.Wt().Session) }); err != nil {
		t.Error(err)
	}
	bidi.Ping()
	e.CheckGrowth(before, bound, "10,000 bidirectional streams")

	// Unidirectional streams that end nowhere: so many are read, others wait, and
	// then QUIC grants no more.
	var half []*webtransport.SendStream
	for len(half) < manyStreams {
		stream, err := uni.Wt().Session.OpenUniStream()
		if err != nil {
			break
		}
		_, err = stream.Write([]byte("UNSUB:D:paint.room:"))
		uni.Must(err)
		half = append(half, stream)
	}
	if len(half) < wtconn.MaxUniStreams || len(half) > quicStreams {
		t.Errorf("%d unidirectional streams are open, want at most %d", len(half), quicStreams)
	}
	awaitReaders(e, wtconn.MaxUniStreams)
	uni.Ping()
	e.CheckGrowth(before, bound+quicStreams*streamCost, "half-open unidirectional streams")
	for _, stream := range half {
		_, err := stream.Write([]byte("half\n"))
		uni.Must(err)
		uni.Must(stream.Close())
	}
	for range half {
		uni.ExpectText("OK:UNSUB:paint.room:half")
	}

	// One line on each of very many streams. The client reads its answers meanwhile.
	sending := make(chan error, 1)
	go func() { // ends with the streams, or waitTimeout
		sending <- manyTimes(func() error { return sendAlone(uni.Wt().Session, "UNSUB:D:paint.room:alone\n") })
	}()
	for range manyStreams {
		uni.ExpectText("OK:UNSUB:paint.room:alone")
	}
	uni.Must(<-sending)
	uni.Ping()
	e.CheckGrowth(before, bound, "10,000 unidirectional streams")

	// Lines without an end: each is answered once, when it is too long.
	const lines, length = 8, 4 << 20
	var writing sync.WaitGroup
	written := make([]error, lines)
	for i := range lines {
		writing.Go(func() { written[i] = writeEndless(endless.Wt().Session, length) })
	}
	writing.Wait()
	for i := range lines {
		endless.Must(written[i])
		endless.ExpectText("ERR:bad_request")
	}
	endless.Ping()
	e.CheckGrowth(before, bound+lines*streamCost, "8 lines of 4 MiB")

	bidi.Publish("paint.room", "x", "still here")
	for _, s := range []*harness.Socket{bidi, uni, endless} {
		s.ExpectDeliver("paint.room", "x", "still here", "#")
		s.Close()
	}
	calm.Check()
	e.CheckRelease(before, 3)
}

// manyTimes calls f manyStreams times, in several goroutines.
func manyTimes(f func() error) error {
	const workers = 8
	var working sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		working.Go(func() {
			for range manyStreams / workers {
				if errs[i] = f(); errs[i] != nil {
					return
				}
			}
		})
	}
	working.Wait()
	return errors.Join(errs...)
}

// resetOf opens a bidirectional stream and requires that the edge resets it.
func resetOf(session *webtransport.Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	stream, err := session.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	if _, err := stream.Write([]byte{0}); err != nil && !unwanted(err) {
		return err
	}
	if err := stream.SetReadDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
		return err
	}
	if _, err := stream.Read(make([]byte, 1)); !unwanted(err) {
		return fmt.Errorf("a further bidirectional stream ended with %w", err)
	}
	_ = stream.Close() // which the edge has stopped
	return nil
}

// sendAlone sends a line on a unidirectional stream of its own.
func sendAlone(session *webtransport.Session, line string) error {
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	stream, err := session.OpenUniStreamSync(ctx)
	if err != nil {
		return err
	}
	if _, err := stream.Write([]byte(line)); err != nil {
		return err
	}
	return stream.Close()
}

// unwanted reports whether err says that the edge has refused a stream.
func unwanted(err error) bool {
	var stream *webtransport.StreamError
	return errors.As(err, &stream) && stream.Remote && stream.ErrorCode == refusedStream
}

func writeEndless(session *webtransport.Session, length int) error {
	stream, err := session.OpenUniStream()
	if err != nil {
		return err
	}
	if err := stream.SetWriteDeadline(time.Now().Add(harness.WaitTimeout)); err != nil {
		return err
	}
	_, err = stream.Write(bytes.Repeat([]byte("SUB:D:paint.room:"), length/17))
	return err
}

// awaitReaders waits until the edge reads n unidirectional streams.
func awaitReaders(e *harness.Edge, n int) {
	e.T.Helper()
	e.Poll("readers of unidirectional streams", func() bool {
		stacks, _ := e.Goroutines()
		return bytes.Count([]byte(stacks), []byte("pubsub/webtransport.(*connection).readLines(")) == n
	})
}

// A client opens streams without end before it has shown a token.
func TestHostileStreamsBeforeAuthentication(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	calm := e.StartCalm()
	before := e.Memory()
	bound := 3 * (harness.ConnectionCost + harness.ConnectionWindow + 2*quicStreams*streamCost)

	// A few bidirectional streams beside the first are reset, then the session ends,
	// and the connection with it.
	conn := e.QuicFrom("127.0.0.2", nil)
	session := e.MustSession(conn, harness.Handshake{})
	opened, err := 0, error(nil)
	for ; opened < manyStreams && err == nil; opened++ {
		err = openBidi(session)
	}
	t.Logf("%d streams opened, until: %v", opened, err)
	if opened > wtconn.MaxUniStreams+quicStreams+2 { // those that were on their way
		t.Errorf("the edge took %d streams from a client that it does not know", opened)
	}
	harness.ExpectSessionEnd(t, session, wire.CloseUnauthorized)
	harness.ExpectQUICEnd(t, conn)

	// Unidirectional ones wait, as many as QUIC grants, until the session ends.
	conn = e.QuicFrom("127.0.0.2", nil)
	session = e.MustSession(conn, harness.Handshake{})
	opened = 0
	for opened < manyStreams {
		stream, err := session.OpenUniStream()
		if err == nil {
			_, err = stream.Write([]byte("SUB:D:"))
		}
		if err != nil { // none more is granted, or the edge has ended the session
			break
		}
		opened++
	}
	if opened > quicStreams {
		t.Errorf("%d unidirectional streams are open, want at most %d", opened, quicStreams)
	}

	// So do streams of a session that never was.
	stray := e.QuicFrom("127.0.0.2", nil)
	e.SessionsOn(stray)
	opened = 0
	for opened < manyStreams {
		stream, err := stray.OpenStream()
		if err != nil {
			break
		}
		_, err = stream.Write([]byte{0x40, 0x41, 0x44, 0x00, 'S', 'U', 'B'}) // of session 1,024
		if err != nil {
			t.Fatal(err)
		}
		opened++
	}
	if opened > quicStreams {
		t.Errorf("%d bidirectional streams are open, want at most %d", opened, quicStreams)
	}
	e.CheckGrowth(before, bound, "streams that nobody reads")
	harness.ExpectSessionEnd(t, session, wire.CloseUnauthorized)
	harness.ExpectQUICEnd(t, conn)

	// The edge has let go of the stray ones after a while: there is credit again.
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	if _, err := stray.OpenStreamSync(ctx); err != nil {
		t.Errorf("the edge keeps streams of a session that never was: %v", err)
	}
	calm.Check()
	harness.CloseQUIC(stray)
	e.CheckRelease(before, 3)
}

// openBidi opens a bidirectional stream that stays open, if the edge lets it.
func openBidi(session *webtransport.Session) error {
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	stream, err := session.OpenStreamSync(ctx)
	if err != nil {
		return err
	}
	_, err = stream.Write([]byte{0})
	if unwanted(err) {
		return nil
	}
	return err
}
