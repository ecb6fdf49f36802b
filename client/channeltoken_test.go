package client

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func TestChannelToken(t *testing.T) {
	data, err := os.ReadFile("../wire/testdata/channel_tokens.json")
	must(t, err)
	var vectors []struct {
		Comment string
		Input   struct{ Text, Hex string }
		Expect  struct {
			Token string
			Error Code
		}
	}
	must(t, json.Unmarshal(data, &vectors))
	seen := map[string]string{}
	for _, v := range vectors {
		t.Run(v.Comment, func(t *testing.T) {
			text := v.Input.Text
			if v.Input.Hex != "" {
				b, err := hex.DecodeString(v.Input.Hex)
				must(t, err)
				text = string(b)
			}
			got, err := ChannelToken(text)
			if v.Expect.Error != "" {
				if !errors.Is(err, &Error{Code: v.Expect.Error}) || got != "" {
					t.Fatalf("%q, %v; want %s", got, err, v.Expect.Error)
				}
				return
			}
			if err != nil || got != v.Expect.Token {
				t.Fatalf("%q, %v; want %q", got, err, v.Expect.Token)
			}
			if other, ok := seen[got]; ok {
				t.Errorf("%q and %q have the same token", text, other)
			}
			seen[got] = text
		})
	}
	if len(seen) < 20 {
		t.Errorf("%d legal vectors", len(seen))
	}
}

// FuzzChannelToken: a token is one, means itself alone, and shows its text.
func FuzzChannelToken(f *testing.F) {
	for _, text := range []string{"", "~", "a.b", "ann@example.com", "(a|b)*", "é"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ChannelToken(text)
		if err != nil {
			return
		}
		if len(token) > 64 || wire.CheckChannel(token) != nil {
			t.Fatalf("%q is no legal channel", token)
		}
		p, err := pattern.Parse(token)
		if err != nil || p.Match("a") && token != "a" || !p.Match(token) {
			t.Fatalf("%q is no literal pattern: %v", token, err)
		}
		if _, err := pattern.ParseRule(token, pattern.SubscribeRule); err != nil {
			t.Fatalf("%q is no rule: %v", token, err)
		}
		if back := textOf(t, token); back != text {
			t.Fatalf("%q shows %q, want %q", token, back, text)
		}
	})
}

// textOf is the inverse of ChannelToken: so no two texts have the same token.
func textOf(t *testing.T, token string) string {
	if token == "~" {
		return ""
	}
	var text []byte
	for i := 0; i < len(token); i++ {
		if token[i] != '~' {
			text = append(text, token[i])
			continue
		}
		b, err := hex.DecodeString(token[i+1 : i+3])
		must(t, err)
		text, i = append(text, b...), i+2
	}
	return string(text)
}
