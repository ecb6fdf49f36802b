package wire

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

type lineFields struct {
	Verb       string `json:"verb"`
	Tenant     string `json:"tenant"`
	Pattern    string `json:"pattern"`
	PatternHex string `json:"pattern_hex"`
	Token      string `json:"token"`
	Features   string `json:"features"`
}

func TestParseLine(t *testing.T) {
	for _, v := range load[lineFields](t, "lines.json") {
		t.Run(v.Comment, func(t *testing.T) {
			got, err := ParseLine(v.Input)
			if !sameError(t, err, v.Expect.Error) {
				if !reflect.DeepEqual(got, Line{}) {
					t.Errorf("a broken line gives %+v", got)
				}
				return
			}
			want := v.Expect.Fields
			if want.PatternHex != "" {
				want.Pattern, want.PatternHex = string(unhex(t, want.PatternHex)), ""
			}
			if got := (lineFields{got.Verb.String(), string(got.Tenant), string(got.Pattern), "", string(got.Token), string(got.Features)}); got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			reencodeLine(t, v.Input, got)
		})
	}
}

func encodeLine(l Line) []byte {
	switch {
	case l.Verb == VerbAuth:
		return AppendAuth(nil, string(l.Token))
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
	if l.Verb == VerbSub || l.Verb == VerbUnsub {
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
	for _, line := range []string{"SUB:paint.eu:chat.*", "UNSUB::a\r\n", "PING", "AUTH:AT_0_1", "FEATURES:link,x", "nonsense", ""} {
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
	})
}

func TestAppendLine(t *testing.T) {
	for want, got := range map[string][]byte{
		"x SUB:t:a.#": AppendLine([]byte("x "), VerbSub, "t", "a.#"),
		"UNSUB:~:>":   AppendLine(nil, VerbUnsub, "~", ">"),
		"PING":        AppendLine(nil, VerbPing, "", ""),
		"PONG":        AppendLine(nil, VerbPong, "ignored", "ignored"),
		"AUTH:AT_0_1": AppendAuth(nil, "AT_0_1"),
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
	for _, v := range load[lineFields](f, "lines.json") {
		f.Add([]byte(v.Input))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := ParseLine(b)
		if err != nil {
			if !errors.Is(err, ErrBadRequest) {
				t.Errorf("error %v", err)
			}
			return
		}
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
	})
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
	if l, err := ParseServerLine([]byte(LineFeatures)); err != nil || l.Features != FeatureLink {
		t.Errorf("got %+v, %v", l, err)
	}
}
