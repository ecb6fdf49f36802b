package args

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// variable matches `{$NAME}` and `{$NAME:default}`, in whose place Caddy puts the value of an
// environment variable before it parses the file.
var variable = regexp.MustCompile(`\{\$([^{}:]+)(:[^{}]*)?\}`)

// CheckVariables refuses values with a part `{$NAME}` where NAME is not set: Caddy has put
// nothing in its place, so that a path names another folder. `{$NAME:}` says that nothing is meant,
// and so does a `{$NAME}` at the beginning of a line, for options that may be added. d is at its
// beginning, before and after.
//
// Caddy hands no trace of variables on, so this reads the file again, and says nothing of a line
// that is not what d was made of.
func CheckVariables(d *caddyfile.Dispenser) error {
	files := map[string][]string{}
	for d.Next() {
		file, line := d.File(), d.Line()
		if _, read := files[file]; !read {
			text, _ := os.ReadFile(file) // which may be no file, as what is sent to the admin endpoint
			files[file] = strings.Split(string(text), "\n")
		}
		words := []string{d.Val()}
		for d.NextArg() {
			words = append(words, d.Val())
		}
		if line > len(files[file]) {
			continue
		}
		if name := missingVariable(files[file][line-1], words); name != "" {
			return d.Errf("%s: the environment variable is empty or not set; {$%s:} stands for nothing where it is not set, or for a default behind the colon", name, strings.Trim(name, "{$}"))
		}
	}
	d.Reset()
	return nil
}

// missingVariable returns the first variable without a value in a line that Caddy has split into words;
// empty: there is none.
func missingVariable(line string, words []string) string {
	expanded := variable.ReplaceAllStringFunc(line, func(text string) string {
		parts := variable.FindStringSubmatch(text)
		if value, set := os.LookupEnv(parts[1]); set {
			return value
		}
		return strings.TrimPrefix(parts[2], ":")
	})
	if !slices.Equal(wordsOf(expanded), words) {
		return ""
	}
	for i, word := range wordsOf(line) {
		for _, parts := range variable.FindAllStringSubmatch(word, -1) {
			if i > 0 && os.Getenv(parts[1]) == "" && (parts[2] == "" || isSet(parts[1]) && parts[2] != ":") {
				return "{$" + parts[1] + "}"
			}
		}
	}
	return ""
}

func isSet(name string) bool {
	_, set := os.LookupEnv(name)
	return set
}

// wordsOf are the words of a line but for the brace that opens a block; nil: it has none of its own.
func wordsOf(line string) (words []string) {
	tokens, err := caddyfile.Tokenize([]byte(line), "")
	if err != nil {
		return nil
	}
	for _, t := range tokens {
		if t.Text != "{" {
			words = append(words, t.Text)
		}
	}
	return words
}
