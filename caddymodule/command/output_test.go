package command

import (
	"bytes"
	"os/exec"
	"testing"
)

// What others chose, like a payload, must not steer the terminal.
func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"":            "",
		"hello wörld": "hello wörld",
		"a\nb":        `"a\nb"`,
		"\x1b[31mred": `"\x1b[31mred"`,
		"\xff":        `"\xff"`,
		"\u202eabc":   `"\u202eabc"`,
		`say "hi"`:    `say "hi"`,
	} {
		if got := plain(in); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	if err := table(&b, []string{"ID", "NAME"}, []string{"12345", ""}, []string{"1", "a\tb"}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "ID     NAME\n12345  -\n1      \"a\\tb\"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestShellQuote(t *testing.T) {
	for _, s := range []string{"", "a", "/tmp/a b/c", "it's", "$HOME", "#", "~", "a\nb", `\`, "*"} {
		out, err := exec.Command("sh", "-c", "printf %s "+shellQuote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q: the shell read %q, %v", s, out, err)
		}
	}
}
