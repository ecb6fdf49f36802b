package takeover

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"
)

// The settings of drafts 13 and 14 of draft-ietf-webtrans-http3, for Safari:
// WT_MAX_SESSIONS, and WT_INITIAL_MAX_DATA, _STREAMS_UNI and _STREAMS_BIDI.
const wtSessions, wtData, wtUni, wtBidi = 0x14e9cd29, 0x2b61, 0x2b64, 0x2b65

// Browsers open no session where the settings of the edge do not agree with the draft that
// they know, and say nothing of the reason. Safari (26.4 and newer) needs WT_MAX_SESSIONS of
// at least 1; with more than 1, drafts 13 and 14 also want the three limits of flow control,
// and none may be 0. From draft 15 on it is WT_ENABLED.
func TestWebTransportSettings(t *testing.T) {
	address := unused(t)
	newGeneration(t, address, "one", answer("one")).start(t)
	c := connect(t, address)
	take(t, c.ReceivedSettings())
	settings := c.Settings()
	if !settings.EnableDatagrams || !settings.EnableExtendedConnect {
		t.Errorf("got %+v, want datagrams and extended CONNECT", settings)
	}
	for setting, want := range map[uint64]uint64{
		0x2b603742: 1, // ENABLE_WEBTRANSPORT of drafts 2 to 6, for Chromium and Firefox
		0x2c7cf000: 1, // WT_ENABLED of draft 15 and later
		wtSessions: 1<<62 - 1, wtData: 1 << 20, wtUni: 16, wtBidi: 8,
	} {
		if got, ok := settings.Other[setting]; !ok || got != want {
			t.Errorf("%#x: got %d (sent: %v), want %d", setting, got, ok, want)
		}
		delete(settings.Other, setting)
	}
	for setting, value := range settings.Other { // 0x21 + 0x1f·n is reserved, to be ignored
		if setting < 0x21 || (setting-0x21)%0x1f != 0 {
			t.Errorf("the edge sends the setting %#x, with %d: say here what it is for, and which browsers know it", setting, value)
		}
	}
}

// A client with the settings and the :protocol that Safari is known to send gets a session,
// and may open its stream.
func TestWebTransportOfDraft14(t *testing.T) {
	address := unused(t)
	a := newAcceptor(t)
	newGeneration(t, address, "one", a.ServeHTTP).start(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	conn, err := dial(ctx, address)
	must(t, err)
	t.Cleanup(func() { _ = conn.CloseWithError(0, "") })
	transport := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{wtSessions: 1, wtBidi: 100, wtUni: 100, wtData: 1 << 20}}
	request, err := transport.NewClientConn(conn).OpenRequestStream(ctx)
	must(t, err)
	host := address.JoinHostPort(0)
	must(t, request.SendRequestHeader(&http.Request{
		Method: http.MethodConnect, Proto: "webtransport", Host: host, Header: http.Header{"Origin": {"https://" + host}},
		URL: &url.URL{Scheme: "https", Host: host, Path: "/wt"},
	}))
	if response, err := request.ReadResponse(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", response, err)
	}
	theirs, err := conn.OpenStreamSync(ctx)
	must(t, err)
	first := quicvarint.Append(quicvarint.Append(nil, 0x41), uint64(request.StreamID())) // WT_STREAM
	_, err = theirs.Write(append(first, "hello"...))
	must(t, err)
	ours, err := take(t, a.sessions).AcceptStream(ctx)
	must(t, err)
	got := make([]byte, 5)
	if _, err := ours.Read(got); err != nil || string(got) != "hello" {
		t.Fatalf("got %q, %v, want hello", got, err)
	}
}
