package sessions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/quicvarint"

	"github.com/millrace/millrace/integration/harness"
)

// Browsers open no session where the settings of the edge do not agree with the
// draft that they know, and say nothing of the reason: Chromium and Firefox know
// drafts 2 to 6. Safari (26.4 and newer) needs WT_MAX_SESSIONS of at least 1; with
// more than 1, drafts 13 and 14 also want the three limits of flow control, of which
// none may be 0, or no stream could be opened. From draft 15 on it is WT_ENABLED.
func TestWebTransportSettings(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	settings := readSettings(t, e.DialQUIC(nil))
	for _, row := range []struct {
		name    string
		setting uint64
		want    uint64
	}{
		{"extended CONNECT", harness.ExtendedConnect, 1},
		{"datagrams", harness.Http3Datagrams, 1},
		{"the longest header", harness.MaxFieldSectionSize, 16 << 10},
		{"ENABLE_WEBTRANSPORT of drafts 2 to 6, for Chromium and Firefox", harness.WtDraft2, 1},
		{"WT_MAX_SESSIONS of drafts 13 and 14, for Safari", harness.WtMaxSessions, 1<<62 - 1},
		{"WT_ENABLED of draft 15 and later", harness.WtEnabled, 1},
		{"WT_INITIAL_MAX_STREAMS_BIDI", harness.WtMaxStreamsBidi, 8},
		{"WT_INITIAL_MAX_STREAMS_UNI", harness.WtMaxStreamsUni, 16},
		{"WT_INITIAL_MAX_DATA", harness.WtMaxData, 1 << 20},
	} {
		if got, ok := settings[row.setting]; !ok || got != row.want {
			t.Errorf("%s (%#x): got %d (sent: %v), want %d", row.name, row.setting, got, ok, row.want)
		}
		delete(settings, row.setting)
	}
	// 0x21 + 0x1f·n is reserved, to be ignored (RFC 9114, section 7.2.4.1).
	for setting, value := range settings {
		if setting < 0x21 || (setting-0x21)%0x1f != 0 {
			t.Errorf("the edge sends the setting %#x, with %d: say here what it is for, and which browsers know it", setting, value)
		}
	}
}

// readSettings returns what the edge sends first on its control stream.
func readSettings(t *testing.T, conn *quic.Conn) map[uint64]uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	for {
		stream, err := conn.AcceptUniStream(ctx)
		if err != nil {
			t.Fatalf("no control stream: %v", err)
		}
		reader := bufio.NewReader(stream)
		if kind := readVarint(t, reader); kind != harness.ControlStream {
			continue
		}
		if kind := readVarint(t, reader); kind != harness.SettingsFrame {
			t.Fatalf("the control stream begins with a frame of type %#x, want SETTINGS", kind)
		}
		payload := make([]byte, readVarint(t, reader))
		if _, err := io.ReadFull(reader, payload); err != nil {
			t.Fatal(err)
		}
		settings := map[uint64]uint64{}
		for rest := bytes.NewReader(payload); rest.Len() > 0; {
			setting := readVarint(t, rest)
			settings[setting] = readVarint(t, rest)
		}
		return settings
	}
}

func readVarint(t *testing.T, r io.ByteReader) uint64 {
	t.Helper()
	n, err := quicvarint.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A client with the settings and the :protocol that Safari is known to send gets a
// session, and may open its stream.
func TestWebTransportOfDraft14(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	transport := &http3.Transport{EnableDatagrams: true, AdditionalSettings: map[uint64]uint64{
		harness.WtMaxSessions: 1, harness.WtMaxStreamsBidi: 100, harness.WtMaxStreamsUni: 100, harness.WtMaxData: 1 << 20,
	}}
	conn := e.DialQUIC(nil)
	client := transport.NewClientConn(conn)
	ctx, cancel := context.WithTimeout(context.Background(), harness.WaitTimeout)
	defer cancel()
	request, err := client.OpenRequestStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(e.HttpsURL("/wt"))
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Origin": {e.HttpsURL("")}}
	if err := request.SendRequestHeader(&http.Request{Method: http.MethodConnect, Proto: "webtransport", URL: u, Host: u.Host, Header: header}); err != nil {
		t.Fatal(err)
	}
	response, err := request.ReadResponse()
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", response, err)
	}
	stream, err := conn.OpenStreamSync(ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := quicvarint.Append(nil, harness.WtBidirectionalType)
	first = quicvarint.Append(first, uint64(request.StreamID()))
	line := "AUTH:" + e.Issue(harness.AllowAll("room")).Token
	first = binary.BigEndian.AppendUint32(first, uint32(len(line)))
	if _, err := stream.Write(append(first, line...)); err != nil {
		t.Fatal(err)
	}
	if answer, err := harness.ReadMessage(stream); err != nil || string(answer) != "OK:AUTH" {
		t.Fatalf("got %q, %v, want OK:AUTH", answer, err)
	}
}
