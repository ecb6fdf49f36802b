package wire

import (
	"strings"
	"testing"
)

func TestAppendDenial(t *testing.T) {
	for want, got := range map[string][]byte{
		"x:allowed=":           AppendDenial([]byte("x"), DeniedRules, nil),
		"x:allowed=a,b.(c|d).": AppendDenial([]byte("x"), DeniedRules, []string{"a", "b.(c|d)."}),
		"x:tenants=~":          AppendDenial([]byte("x"), DeniedTenants, []string{"~"}),
		"x:by=hook":            AppendDenial([]byte("x"), DeniedBy, []string{"hook"}),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A line with its denial and the connection's id is never longer than a line may be, and says that
// something is missing.
func TestAppendDenialCuts(t *testing.T) {
	const id = ConnectionID(1 << 63)
	for length := 1; length <= 256; length++ {
		rules := make([]string, 1024/length+4)
		for i := range rules {
			rules[i] = strings.Repeat("a", length)
		}
		for n := range rules {
			line := AppendErr(nil, CodePermissionDenied, "SUB", strings.Repeat("t", MaxTenant), strings.Repeat("c", MaxChannel))
			line = AppendConnection(AppendDenial(line, DeniedRules, rules[:n]), id)
			l, err := ParseServerLine(line)
			shown := names(l.Denial)
			if err != nil || len(line) > MaxLine || l.ConnectionID != id {
				t.Fatalf("%d rules of %d bytes: a line of %d bytes, %v: %s", n, length, len(line), err, line)
			}
			if cut := len(shown) > 0 && shown[len(shown)-1] == DenialCut; len(shown) != n && !cut || cut && len(line)+length+1 < MaxLine-len(DenialCut) {
				t.Fatalf("%d rules of %d bytes: %d shown in %d bytes: %s", n, length, len(shown), len(line), line)
			}
		}
	}
}
