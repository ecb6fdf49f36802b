package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

type lineFields struct {
	Verb       string `json:"verb"`
	Tenant     string `json:"tenant"`
	Pattern    string `json:"pattern"`
	PatternHex string `json:"pattern_hex"`
	From       string `json:"from"`
	Token      string `json:"token"`
	Features   string `json:"features"`
	Count      bool   `json:"count"`
	Credit     uint64 `json:"credit"`
}

var lineCodec = codec[lineFields, Line]{
	file: "lines.json", broken: ErrBadRequest, decode: ParseLine,
	fields: func(l Line) lineFields {
		f := lineFields{
			Verb: l.Verb.String(), Tenant: string(l.Tenant), Pattern: string(l.Pattern),
			Token: string(l.Token), Features: string(l.Features), Count: l.Count, Credit: l.Credit,
		}
		if l.Verb == VerbRsub {
			f.From = string(AppendFrom(nil, l.From))
		}
		if !utf8.ValidString(f.Pattern) {
			f.Pattern, f.PatternHex = "", hex.EncodeToString(l.Pattern)
		}
		return f
	},
	again: reencodeLine,
}

func TestParseLine(t *testing.T) { lineCodec.test(t) }

func encodeLine(l Line) []byte {
	switch {
	case l.Verb == VerbAuth:
		return AppendAuth(nil, string(l.Token))
	case l.Verb == VerbRsub:
		return AppendRsub(nil, string(l.Tenant), string(l.Pattern), l.From)
	case l.Verb == VerbWho:
		return AppendWho(nil, string(l.Tenant), string(l.Pattern), l.Count)
	case l.Verb == VerbCredit:
		return AppendCredit(nil, string(l.Tenant), string(l.Pattern), l.Credit)
	case l.Verb == VerbFeatures && l.Features == nil:
		return []byte("FEATURES")
	case l.Verb == VerbFeatures:
		return []byte("FEATURES:" + string(l.Features))
	}
	return AppendLine(nil, l.Verb, string(l.Tenant), string(l.Pattern))
}

// reencodeLine checks that l encodes to the line b that it was parsed from,
// without the newline and with an empty tenant in words.
func reencodeLine(t *testing.T, b []byte, l Line) {
	t.Helper()
	want := strings.TrimSuffix(string(b), "\n")
	if want != string(b) {
		want = strings.TrimSuffix(want, "\r")
	}
	if l.Tenant != nil {
		if prefix := l.Verb.String() + "::"; strings.HasPrefix(want, prefix) {
			want = l.Verb.String() + ":~:" + want[len(prefix):]
		}
	}
	if got := string(encodeLine(l)); got != want {
		t.Errorf("%q encodes again to %q", b, got)
	}
}

func TestParseLineAliases(t *testing.T) {
	b := []byte("SUB:t:a")
	l, err := ParseLine(b)
	if err != nil {
		t.Fatal(err)
	}
	b[4], b[6] = 'u', 'b'
	if string(l.Tenant) != "u" || string(l.Pattern) != "b" {
		t.Errorf("tenant %q and pattern %q are copies", l.Tenant, l.Pattern)
	}
}

func TestParseLineErrorHidesToken(t *testing.T) {
	_, err := ParseLine([]byte("AUTHX:AT_0123_4567"))
	if !errors.Is(err, ErrBadRequest) || strings.Contains(err.Error(), "0123") {
		t.Errorf("error %v", err)
	}
}

func TestParseLineAllocatesNothing(t *testing.T) {
	for _, line := range []string{"SUB:paint.eu:chat.*", "UNSUB::a\r\n", "PING", "AUTH:AT_0_1", "FEATURES:link,x", "nonsense", "",
		"RSUB:t:a:now", "RSUB:t:a:last.10", "RSUB:t:a:00ff00ff00ff00ff.42.1700000000000", "RSUB:t:a:none",
		"JOIN:t:a", "LEAVE:t:a", "WHO:t:a.*", "WHO::a.*:count", "UNWHO:t:a.*", "WHO:t:a:none", "CREDIT:t:a:7", "CREDIT:t:a:none"} {
		b := []byte(line)
		noAllocs(t, line, func() {
			l, _ := ParseLine(b)
			_ = l.HasFeature("x")
		})
	}
	dst := make([]byte, 0, MaxLine)
	noAllocs(t, "append", func() {
		dst = AppendLine(dst[:0], VerbSub, "paint.eu", "chat.*")
		dst = AppendOK(dst[:0], VerbSub, "paint.eu", "chat.*")
		dst = AppendErr(dst[:0], CodePermissionDenied, "SUB", "paint.eu", "chat.*")
		dst = AppendRsub(dst[:0], "paint.eu", "chat.*", From{Origin: OriginPosition, Position: maxPosition})
		dst = AppendOKRsub(dst[:0], "paint.eu", "chat.*", maxPosition, true)
		dst = AppendAt(dst[:0], "paint.eu", "chat.*", maxPosition)
		dst = AppendGap(dst[:0], "paint.eu", "chat.*", maxPosition)
		dst = AppendOKPubAt(dst[:0], 1, maxPosition)
		dst = AppendErrPub(dst[:0], CodeUnconfirmed, 1)
		dst = AppendWho(dst[:0], "paint.eu", "chat.*", true)
		dst = AppendCredit(dst[:0], "paint.eu", "chat.*", MaxCredit)
	})
}

func TestAppendLine(t *testing.T) {
	for want, got := range map[string][]byte{
		"x SUB:t:a.#":    AppendLine([]byte("x "), VerbSub, "t", "a.#"),
		"UNSUB:~:>":      AppendLine(nil, VerbUnsub, "~", ">"),
		"PING":           AppendLine(nil, VerbPing, "", ""),
		"PONG":           AppendLine(nil, VerbPong, "ignored", "ignored"),
		"AUTH:AT_0_1":    AppendAuth(nil, "AT_0_1"),
		"x RSUB:t:a:now": AppendRsub([]byte("x "), "t", "a", From{}),
		"JOIN:t:a":       AppendLine(nil, VerbJoin, "t", "a"),
		"x WHO:t:a":      AppendWho([]byte("x "), "t", "a", false),
		"WHO:t:a:count":  AppendWho(nil, "t", "a", true),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Verb(0).String(); got != "Verb(0)" {
		t.Errorf("the zero verb is %q", got)
	}
}

func FuzzParseLine(f *testing.F) {
	c := lineCodec
	c.again = func(t *testing.T, b []byte, l Line) {
		reencodeLine(t, b, l)
		encoded := encodeLine(l)
		if bytes.HasSuffix(encoded, []byte("\n")) {
			return // the end of a field now reads as the end of the line
		}
		if len(encoded) > MaxLine {
			return // an empty tenant in words made it one byte too long
		}
		if again, err := ParseLine(encoded); err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%q parses to %+v, its encoding to %+v, %v", b, l, again, err)
		}
	}
	c.fuzz(f)
}

func TestHasFeature(t *testing.T) {
	for line, want := range map[string]bool{
		"FEATURES": false, "FEATURES:link": true, "FEATURES:links": false, "FEATURES:lin,k": false, "FEATURES:of_later,link": true,
	} {
		l, err := ParseLine([]byte(line))
		if err != nil || l.HasFeature(FeatureLink) != want {
			t.Errorf("%s: %v, %v", line, l.HasFeature(FeatureLink), err)
		}
	}
	for line, want := range map[string][2]bool{
		LineFeatures: {true, false}, LineFeaturesHistory: {true, true}, "FEATURES:histor,linked": {false, false}, "PING": {false, false},
	} {
		l, err := ParseServerLine([]byte(line))
		if got := [2]bool{l.HasFeature(FeatureLink), l.HasFeature(FeatureHistory)}; err != nil || got != want {
			t.Errorf("%s: got %v, %v", line, got, err)
		}
	}
}
