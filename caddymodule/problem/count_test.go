package problem

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The refusals that start at zero are those of the tables in docs/protocol.md,
// and three that can come at any step.
func TestHandshakeRefusals(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"not_implemented", "starting", "token_in_url", "unavailable"}
	rows := regexp.MustCompile("(?m)^\\| \\d \\| ([0-9, ]+) \\| ([a-z_`, ]+) \\|").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 8 {
		t.Fatalf("%d rows in docs/protocol.md", len(rows))
	}
	for _, row := range rows {
		want = append(want, regexp.MustCompile("[a-z_]+").FindAllString(row[2], -1)...)
		for _, status := range strings.Split(row[1], ", ") {
			if !slices.ContainsFunc(handshakeRefusals, func(pair []string) bool {
				return pair[0] == status && strings.Contains(row[2], "`"+pair[1]+"`")
			}) {
				t.Errorf("no refusal is %s with one of %s", status, row[2])
			}
		}
	}
	var got []string
	for _, pair := range handshakeRefusals {
		got = append(got, pair[1])
	}
	slices.Sort(got)
	slices.Sort(want)
	if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
