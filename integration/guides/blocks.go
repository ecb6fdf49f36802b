package guides

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/testcheck"
)

var must = testcheck.Must

// A Block is a fenced block of a page.
type Block struct {
	Language string // sh for commands; empty for what they print
	File     string // the name of a block that is a whole file; empty otherwise
	Text     string
	Line     int    // of its fence
	before   string // the text between it and the block before
	tested   bool
}

// fence allows for blocks inside lists, which are indented.
var fence = regexp.MustCompile("(?ms)^( *)```([^ \n]*) ?([^\n]*)\n(.*?)^ *```$")

// Parse returns the blocks of a page.
func Parse(text string) (blocks []*Block) {
	end := 0
	for _, at := range fence.FindAllStringSubmatchIndex(text, -1) {
		part := func(i int) string { return text[at[2*i]:at[2*i+1]] }
		body := regexp.MustCompile("(?m)^"+part(1)).ReplaceAllString(part(4), "")
		line := 1 + strings.Count(text[:at[0]], "\n")
		blocks = append(blocks, &Block{part(2), part(3), body, line, strings.TrimSpace(text[end:at[0]]), false})
		end = at[1]
	}
	return blocks
}

// Document reads a file, and the text of its blocks in a language.
func Document(t *testing.T, path, language string) (text string, blocks []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	for _, block := range Parse(string(content)) {
		if block.Language == language {
			blocks = append(blocks, block.Text)
		}
	}
	return string(content), blocks
}

var itPrints = regexp.MustCompile(`^(It (prints|answers)[^\n]*:)?$`)

// follows says that the block is what the commands in the block before it print: between the
// two is nothing, or a paragraph such as "It prints:".
func (b *Block) follows() bool {
	return b.Language == "" && b.File == "" && itPrints.MatchString(b.before)
}

// expected is an expression for a block of output, in which … stands for anything, and a line
// with nothing else for any lines.
func expected(block string) *regexp.Regexp {
	text := regexp.QuoteMeta(strings.TrimSpace(block))
	text = regexp.MustCompile(`(?m)^\s*…$\n?`).ReplaceAllString(text, `(?:.*\n)*?`)
	return regexp.MustCompile(`(?m)^` + strings.ReplaceAll(text, "…", ".*") + `$`)
}
