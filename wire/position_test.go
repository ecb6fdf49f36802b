package wire

import (
	"errors"
	"math"
	"strings"
	"testing"
)

var maxPosition = Position{math.MaxUint64, math.MaxUint64, math.MaxUint64}

func TestPosition(t *testing.T) {
	for text, want := range map[string]Position{
		"0000000000000000.0.0":                {},
		"0123456789abcdef.10.1700000000000":   {0x0123456789abcdef, 10, 1700000000000},
		"ffffffffffffffff" + maxU64 + maxU64:  maxPosition,
		"0000000000000001.9007199254740993.1": {1, 1<<53 + 1, 1},
	} {
		got, err := ParsePosition(text)
		if err != nil || got != want || want.String() != text {
			t.Errorf("%s: got %+v, %v; %+v is %s", text, got, err, want, want)
		}
		if again, err := ParsePosition([]byte(text)); err != nil || again != want {
			t.Errorf("%s as bytes: got %+v, %v", text, again, err)
		}
		// What is cut is no position, or another one with a shorter t.
		for n := range len(text) {
			if p, err := ParsePosition(text[:n]); err == nil && (p.String() != text[:n] || p.T >= want.T) {
				t.Errorf("%q is %v", text[:n], p)
			}
		}
	}
	if n := len(maxPosition.String()); n != MaxPositionLen {
		t.Errorf("the longest position has %d bytes, MaxPositionLen is %d", n, MaxPositionLen)
	}
}

const maxU64 = ".18446744073709551615"

// The lines with the most fields fit into a line, whatever is in them.
func TestLongestHistoryLines(t *testing.T) {
	tenant, pattern := strings.Repeat("t", MaxTenant), strings.Repeat("p", MaxPattern)
	for _, line := range [][]byte{
		AppendRsub(nil, tenant, pattern, From{Origin: OriginPosition, Position: maxPosition}),
		AppendOKRsub(nil, tenant, pattern, maxPosition, true),
		AppendGap(nil, tenant, pattern, maxPosition),
		AppendErr(nil, CodeHistoryUnavailable, VerbRsub.String(), tenant, pattern),
	} {
		if len(line) > MaxLine {
			t.Errorf("%.12s… has %d bytes", line, len(line))
		}
	}
}

func TestParsePositionAllocatesNothing(t *testing.T) {
	text, b := maxPosition.String(), []byte(maxPosition.String())
	noAllocs(t, "parse", func() {
		_, _ = ParsePosition(text)
		_, _ = ParsePosition(b)
		_, _ = ParsePosition(text[1:])
	})
	dst := make([]byte, 0, MaxPositionLen)
	noAllocs(t, "append", func() { dst = AppendPosition(dst[:0], maxPosition) })
}

func FuzzParsePosition(f *testing.F) {
	for _, text := range []string{maxPosition.String(), Position{}.String(), "now", "00ff00ff00ff00ff.01.2", "00ff00ff00ff00ff.1.2.3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePosition(text)
		if err != nil {
			if !errors.Is(err, ErrBadRequest) || p != (Position{}) {
				t.Errorf("%+v, error %v", p, err)
			}
			return
		}
		if p.String() != text {
			t.Errorf("%q encodes again to %q", text, p)
		}
	})
}
