package sessions

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// The settings of drafts 13 and 14 of draft-ietf-webtrans-http3, for Safari:
// WT_MAX_SESSIONS, and WT_INITIAL_MAX_DATA, _STREAMS_UNI and _STREAMS_BIDI.
const wtSessions, wtData, wtUni, wtBidi = 0x14e9cd29, 0x2b61, 0x2b64, 0x2b65

// Browsers open no session where the settings of the edge do not agree with the draft that
// they know, and say nothing of the reason. Safari (26.4 and newer) needs WT_MAX_SESSIONS of
// at least 1; with more than 1, drafts 13 and 14 also want the three limits of flow control,
// of which none may be 0. From draft 15 on it is WT_ENABLED.
func TestWebTransportSettings(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	conn := e.DialQUIC()
	var reader *bufio.Reader
	next := func() uint64 {
		n, err := quicvarint.Read(reader)
		e.Must(err)
		return n
	}
	for kind := uint64(1); kind != 0; kind = next() { // until the control stream: RFC 9114, section 6.2.1
		stream, err := conn.AcceptUniStream(ctx)
		e.Must(err)
		reader = bufio.NewReader(stream)
	}
	if kind := next(); kind != 4 { // section 7.2.4
		t.Fatalf("the control stream begins with a frame of type %#x, want SETTINGS", kind)
	}
	settings := map[uint64]uint64{}
	for left := int(next()); left > 0; {
		setting, value := next(), next()
		settings[setting] = value
		left -= quicvarint.Len(setting) + quicvarint.Len(value)
	}
	for setting, want := range map[uint64]uint64{
		0x06:       16 << 10, // the longest header
		0x08:       1,        // extended CONNECT: RFC 9220, section 3
		0x33:       1,        // datagrams: RFC 9297, section 2.1.1
		0x2b603742: 1,        // ENABLE_WEBTRANSPORT of drafts 2 to 6, for Chromium and Firefox
		0x2c7cf000: 1,        // WT_ENABLED of draft 15 and later
		wtSessions: 1<<62 - 1, wtData: 1 << 20, wtUni: 16, wtBidi: 8,
	} {
		if got, ok := settings[setting]; !ok || got != want {
			t.Errorf("%#x: got %d (sent: %v), want %d", setting, got, ok, want)
		}
		delete(settings, setting)
	}
	for setting, value := range settings { // 0x21 + 0x1f·n is reserved, to be ignored
		if setting < 0x21 || (setting-0x21)%0x1f != 0 {
			t.Errorf("the edge sends the setting %#x, with %d: say here what it is for, and which browsers know it", setting, value)
		}
	}
}

// A client with the settings and the :protocol that Safari is known to send gets a session,
// and may open its stream.
func TestWebTransportOfDraft14(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	transport := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{wtSessions: 1, wtBidi: 100, wtUni: 100, wtData: 1 << 20}}
	conn := e.DialQUIC()
	ctx, cancel := context.WithTimeout(t.Context(), harness.WaitTimeout)
	defer cancel()
	request, err := transport.NewClientConn(conn).OpenRequestStream(ctx)
	e.Must(err)
	u, err := url.Parse(e.HttpsURL("/wt"))
	e.Must(err)
	header := http.Header{"Origin": {e.HttpsURL("")}}
	e.Must(request.SendRequestHeader(&http.Request{Method: http.MethodConnect, Proto: "webtransport", URL: u, Host: u.Host, Header: header}))
	if response, err := request.ReadResponse(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", response, err)
	}
	stream, err := conn.OpenStreamSync(ctx)
	e.Must(err)
	first := quicvarint.Append(quicvarint.Append(nil, 0x41), uint64(request.StreamID())) // WT_STREAM
	_, err = stream.Write(append(first, wire.AppendMessage(nil, []byte("AUTH:"+e.Issue(harness.AllowAll("room")).Token))...))
	e.Must(err)
	if answer, err := harness.ReadMessage(stream); err != nil || string(answer) != "OK:AUTH" {
		t.Fatalf("got %q, %v, want OK:AUTH", answer, err)
	}
}
