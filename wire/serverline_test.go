package wire

import (
	"errors"
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
}

var kindNames = map[ServerKind]string{
	KindOK: "OK", KindOKAuth: "OK:AUTH", KindErr: "ERR", KindPing: "PING", KindPong: "PONG", KindReconnect: "RECONNECT",
	KindFeatures: "FEATURES", KindLink: "LINK", KindOKRsub: "OK:RSUB", KindAt: "AT", KindGap: "GAP", KindOKPub: "OK:PUB",
}

func TestParseServerLine(t *testing.T) {
	seen := map[ServerKind]bool{}
	for _, v := range load[serverLineFields](t, "server_lines.json") {
		t.Run(v.Comment, func(t *testing.T) {
			got, err := ParseServerLine(v.Input)
			if !sameError(t, err, v.Expect.Error) {
				if got != (ServerLine{}) {
					t.Errorf("a broken line gives %+v", got)
				}
				return
			}
			seen[got.Kind] = true
			fields := serverLineFields{kindNames[got.Kind], "", got.Tenant, got.Pattern, "", "", got.ID, got.Code, got.Detail, got.Features, got.Up}
			if got.Verb != 0 {
				fields.Verb = got.Verb.String()
			}
			switch got.Kind {
			case KindOKRsub:
				fields.Position, fields.How = got.Position.String(), "gap"
				if got.Complete {
					fields.How = "complete"
				}
			case KindAt, KindGap:
				fields.Position = got.Position.String()
			case KindOKPub:
				if got.Stored {
					fields.Position = got.Position.String()
				}
			}
			if fields != v.Expect.Fields {
				t.Errorf("got %+v, want %+v", fields, v.Expect.Fields)
			}
			if again := encodeServerLine(t, got); again != string(v.Input) {
				t.Errorf("%q encodes again to %q", v.Input, again)
			}
		})
	}
	for kind, name := range kindNames {
		if !seen[kind] {
			t.Errorf("no vector of kind %s", name)
		}
	}
}

func encodeServerLine(t *testing.T, l ServerLine) string {
	switch l.Kind {
	case KindOK:
		return string(AppendOK(nil, l.Verb, l.Tenant, l.Pattern))
	case KindOKAuth:
		return LineOKAuth
	case KindErr:
		if l.Detail == "" {
			return string(AppendErr(nil, l.Code))
		}
		return string(AppendErr(nil, l.Code, l.Detail))
	case KindPing:
		return LinePing
	case KindPong:
		return LinePong
	case KindReconnect:
		return LineReconnect
	case KindFeatures:
		return "FEATURES:" + l.Features
	case KindLink:
		if l.Up {
			return LineLinkUp
		}
		return LineLinkDown
	case KindOKRsub:
		return string(AppendOKRsub(nil, l.Tenant, l.Pattern, l.Position, l.Complete))
	case KindAt:
		return string(AppendAt(nil, l.Tenant, l.Pattern, l.Position))
	case KindGap:
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

func FuzzParseServerLine(f *testing.F) {
	for _, v := range load[serverLineFields](f, "server_lines.json") {
		f.Add([]byte(v.Input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseServerLine(b)
		if err != nil {
			if !errors.Is(err, ErrBadRequest) {
				t.Errorf("error %v", err)
			}
			return
		}
		if again := encodeServerLine(t, l); again != string(b) {
			t.Errorf("%q encodes again to %q", b, again)
		}
	})
}
