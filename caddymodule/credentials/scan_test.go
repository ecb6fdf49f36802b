package credentials

import (
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What findToken finds, by definition: these expressions, in the text as it stands,
// decoded, and decoded twice.
var (
	tokenPartPattern  = regexp.MustCompile(`(AT|MT)_[0-9A-Fa-f]{8}|[0-9A-Fa-f]{32}_[0-9A-Fa-f]{32}`)
	tokenStartPattern = regexp.MustCompile(`(^|[^A-Za-z0-9_])(AT|MT)_|` + tokenPartPattern.String())
	percentCode       = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

func findByDefinition(text string) (found finding) {
	for range 3 {
		switch {
		case tokenPartPattern.MatchString(text):
			return foundToken
		case tokenStartPattern.MatchString(text):
			found = foundStart
		}
		text = percentCode.ReplaceAllStringFunc(text, func(code string) string {
			c, _ := strconv.ParseUint(code[1:], 16, 8) // two hex digits parse
			return string([]byte{byte(c)})
		})
	}
	return found
}

func checkFinding(t *testing.T, text string) {
	t.Helper()
	found, steps := findToken(text)
	if want := findByDefinition(text); found != want {
		t.Errorf("%q: found %d, by definition %d", text, found, want)
	}
	if steps > 3*len(text) {
		t.Errorf("%q: %d steps for %d bytes", text, steps, len(text))
	}
}

const someID = "00112233445566778899aabbccddeeFF"

var findings = map[string]finding{
	"":                              foundNothing,
	"_":                             foundNothing,
	"AT_":                           foundStart,
	" MT_x":                         foundStart,
	"üAT_":                          foundStart,
	"%41T_":                         foundStart,
	"%2541T_":                       foundStart,
	"%252541T_":                     foundNothing, // encoded three times
	"%25252541T_":                   foundNothing,
	"%41%54%5F":                     foundStart,
	"%2541%2554%255f":               foundStart,
	"%%41T_":                        foundStart,
	"%4%41T_":                       foundNothing, // behind 4
	"%4.%41T_":                      foundStart,
	"x%20AT_":                       foundStart, // a word's start once it is decoded
	"x%2520AT_":                     foundStart,
	"xAT_":                          foundNothing,
	"%78AT_":                        foundNothing,
	"%2DAT_":                        foundStart,
	"-%2":                           foundNothing,
	"FORMAT_1/LOOK_AT_ME":           foundNothing,
	"AAT_00112233":                  foundToken,
	"xAT_0011223":                   foundNothing,
	"xAT_00112233":                  foundToken,
	"xMT_0011%32233":                foundToken,
	"xMT_0011%2532233":              foundToken,
	"AT%5F00112233":                 foundToken,
	someID + "_" + someID:           foundToken,
	someID + "%5f" + someID:         foundToken,
	someID + "%255f" + someID:       foundToken,
	"0" + someID + "_" + someID:     foundToken,
	someID + "_" + someID[1:]:       foundNothing,
	someID[1:] + "_" + someID:       foundNothing,
	someID + "__" + someID:          foundNothing,
	"x" + someID[1:] + "_" + someID: foundNothing,
	someID + "_x_" + someID:         foundNothing,
	"1_" + someID + "_" + someID:    foundToken,
}

func TestFindToken(t *testing.T) {
	for text, want := range findings {
		if found, _ := findToken(text); found != want {
			t.Errorf("%q: found %d, want %d", text, found, want)
		}
		checkFinding(t, text)
	}
}

// TestFindTokenByDefinition compares texts that are likely to hold almost a token.
func TestFindTokenByDefinition(t *testing.T) {
	pieces := []string{
		"AT", "MT", "A", "T", "M", "_", "%5f", "%5F", "%255F", "%25255f", "%", "%2", "%25", "%41", "%54", "%4d", "%2541", "5", "f", "4", "1",
		"0011", "aBcDeF01", someID, someID[:31], "%30", "%2530", "x", "-", "%2d", "ü", "\xff", "%ff", "%00", "z_", "__", "at", "%zz", "AT_0011", "xMT_aBcDeF0",
	}
	random := rand.New(rand.NewPCG(12, 1))
	hits := map[finding]int{}
	for range 10_000 {
		var b strings.Builder
		for range 1 + random.IntN(12) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		checkFinding(t, b.String())
		found, _ := findToken(b.String())
		hits[found]++
	}
	for _, f := range []finding{foundNothing, foundStart, foundToken} {
		if hits[f] < 100 {
			t.Errorf("finding %d came up %d times only", f, hits[f])
		}
	}
}

// maxFuzzed is the length of texts that are fuzzed: the definition is slow.
const maxFuzzed = 1 << 10

func FuzzFindToken(f *testing.F) {
	for text := range findings {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= maxFuzzed {
			checkFinding(t, text)
		}
	})
}
