package wire

import (
	"strings"
	"testing"
)

type serverLineFields struct {
	Kind     string `json:"kind"`
	Verb     string `json:"verb"`
	Tenant   string `json:"tenant"`
	Pattern  string `json:"pattern"`
	Position string `json:"position"`
	How      string `json:"how"`
	ID       uint32 `json:"id"`
	Code     Code   `json:"code"`
	Detail   string `json:"detail"`
	Features string `json:"features"`
	Up       bool   `json:"up"`

	Reason       GapReason    `json:"reason"`
	Denial       string       `json:"denial"`
	Names        []string     `json:"names"` // of the denial
	ConnectionID ConnectionID `json:"connection_id"`
}

var kindNames = map[ServerKind]string{
	KindOK: "OK", KindOKAuth: "OK:AUTH", KindErr: "ERR", KindPing: "PING", KindPong: "PONG", KindReconnect: "RECONNECT",
	KindFeatures: "FEATURES", KindLink: "LINK", KindOKRsub: "OK:RSUB", KindAt: "AT", KindGap: "GAP", KindOKPub: "OK:PUB",
}

var serverLineCodec = codec[serverLineFields, ServerLine]{
	file: "server_lines.json", broken: ErrBadRequest, decode: ParseServerLine,
	fields: func(l ServerLine) serverLineFields {
		f := serverLineFields{
			Kind: kindNames[l.Kind], Tenant: l.Tenant, Pattern: l.Pattern, ID: l.ID, Code: l.Code, Detail: l.Detail,
			Features: l.Features, Up: l.Up, Reason: l.Reason, ConnectionID: l.ConnectionID,
		}
		if l.Verb != 0 {
			f.Verb = l.Verb.String()
		}
		if l.Kind == KindOKRsub {
			f.How = map[bool]string{true: "complete", false: "gap"}[l.Complete]
		}
		if f.How != "" || l.Kind == KindAt || l.Kind == KindGap || l.Stored {
			f.Position = l.Position.String()
		}
		if l.Denial.Kind != 0 {
			f.Denial, f.Names = strings.Trim(denialFields[l.Denial.Kind], ":="), names(l.Denial)
		}
		return f
	},
	again: func(t *testing.T, b []byte, l ServerLine) {
		if again := encodeServerLine(t, l); again != string(b) {
			t.Errorf("%q encodes again to %q", b, again)
		}
	},
}

func TestParseServerLine(t *testing.T) {
	seen := map[ServerKind]bool{}
	c := serverLineCodec
	c.more = func(_ *testing.T, _ vector[serverLineFields], l ServerLine) { seen[l.Kind] = true }
	c.test(t)
	for kind, name := range kindNames {
		if !seen[kind] {
			t.Errorf("no vector of kind %s", name)
		}
	}
	c.file = "reasons.json"
	c.test(t)
}

func FuzzParseServerLine(f *testing.F) { serverLineCodec.fuzz(f, "reasons.json") }

// names splits the names of a denial.
func names(d Denial) []string {
	return strings.FieldsFunc(d.Names, func(c rune) bool { return c == ',' })
}

func encodeServerLine(t *testing.T, l ServerLine) string {
	for _, line := range []string{LineOKAuth, LinePing, LinePong, LineReconnect, LineLinkUp, LineLinkDown} {
		if same, err := ParseServerLine([]byte(line)); err == nil && same == l {
			return line
		}
	}
	switch l.Kind {
	case KindOK:
		return string(AppendOK(nil, l.Verb, l.Tenant, l.Pattern))
	case KindErr:
		line := AppendErr(nil, l.Code)
		if l.Detail != "" {
			line = AppendErr(nil, l.Code, l.Detail)
		}
		if l.Denial.Kind != 0 {
			line = append(append(line, denialFields[l.Denial.Kind]...), l.Denial.Names...)
		}
		return string(AppendConnection(line, l.ConnectionID))
	case KindFeatures:
		return "FEATURES:" + l.Features
	case KindOKRsub:
		return string(AppendOKRsub(nil, l.Tenant, l.Pattern, l.Position, l.Complete))
	case KindAt:
		return string(AppendAt(nil, l.Tenant, l.Pattern, l.Position))
	case KindGap:
		if l.Reason != "" {
			return string(AppendGapReason(nil, l.Tenant, l.Pattern, l.Position, l.Reason))
		}
		return string(AppendGap(nil, l.Tenant, l.Pattern, l.Position))
	case KindOKPub:
		if l.Stored {
			return string(AppendOKPubAt(nil, l.ID, l.Position))
		}
		return string(AppendOKPub(nil, l.ID))
	}
	t.Fatalf("kind %d", l.Kind)
	return ""
}

func TestAppendServerLine(t *testing.T) {
	for want, got := range map[string][]byte{
		"x OK:SUB:t:a":                       AppendOK([]byte("x "), VerbSub, "t", "a"),
		"OK:UNSUB:~:>":                       AppendOK(nil, VerbUnsub, "~", ">"),
		"x ERR:bad_frame":                    AppendErr([]byte("x "), CodeBadFrame),
		"ERR:slow_consumer:7":                AppendErr(nil, CodeSlowConsumer, "7"),
		"ERR:permission_denied:PUB:t:chat.a": AppendErr(nil, CodePermissionDenied, "PUB", "t", "chat.a"),
		"x ERR:unconfirmed:PUB:4294967295":   AppendErrPub([]byte("x "), CodeUnconfirmed, 1<<32-1),
		"x AT:t:a:0000000000000001.2.3":      AppendAt([]byte("x "), "t", "a", Position{1, 2, 3}),
		"x GAP:t:a:0000000000000001.2.3":     AppendGap([]byte("x "), "t", "a", Position{1, 2, 3}),
		"x OK:PUB:0":                         AppendOKPub([]byte("x "), 0),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRefusedID(t *testing.T) {
	for line, want := range map[string]int64{
		"ERR:unconfirmed:PUB:0": 0, "ERR:x:PUB:4294967295": 1<<32 - 1, string(AppendErrPub(nil, CodeNoHistory, 7)): 7,
		"ERR:permission_denied:PUB:t:a": -1, "ERR:x:PUB:4294967296": -1, "ERR:x:PUB:01": -1, "ERR:x:PUB:1:": -1, "ERR:x:PUB": -1,
		"ERR:x": -1, "ERR:x:SUB:1": -1, "OK:PUB:1": -1,
	} {
		l, err := ParseServerLine([]byte(line))
		if id, ok := l.RefusedID(); err != nil || ok != (want >= 0) || ok && int64(id) != want {
			t.Errorf("%s: id %d, %v, %v", line, id, ok, err)
		}
	}
}
