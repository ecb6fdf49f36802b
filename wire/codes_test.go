package wire

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
)

type codeFields struct {
	Code   Code      `json:"code"`
	Detail string    `json:"detail"`
	Then   string    `json:"then"`
	Close  CloseCode `json:"close"`
}

func TestCodeVectors(t *testing.T) {
	seen := map[Code]bool{}
	for _, v := range load[codeFields](t, "codes.json") {
		t.Run(string(v.Input), func(t *testing.T) {
			line, err := ParseServerLine(v.Input)
			if !sameError(t, err, v.Expect.Error) {
				return
			}
			got := codeFields{Code: line.Code, Detail: line.Detail}
			switch info, ok := line.Code.Info(); {
			case !ok:
				got.Then = "unknown"
			case info.Close != 0:
				got.Then, got.Close = "close", info.Close
			case info.MayClose != 0:
				got.Then, got.Close = "may_close", info.MayClose
			default:
				got.Then = "goes_on"
			}
			if line.Kind != KindErr || got != v.Expect.Fields {
				t.Errorf("got %+v, want %+v", got, v.Expect.Fields)
			}
			if info, _ := line.Code.Info(); info.Argument != "" && line.Detail == "" {
				t.Errorf("%s has the argument %s, the vector none", line.Code, info.Argument)
			}
			seen[line.Code] = true
		})
	}
	for _, info := range Codes {
		if !seen[info.Code] {
			t.Errorf("no vector has the code %s", info.Code)
		}
	}
}

// Every constant has its row, so no code is missing from what is made of the tables.
func TestCodeTablesAreComplete(t *testing.T) {
	rows := map[string]int{}
	for _, info := range Codes {
		rows[strconv.Quote(string(info.Code))]++
	}
	for _, info := range CloseCodes {
		rows[strconv.Itoa(int(info.Close))]++
	}
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if value, ok := spec.Values[0].(*ast.BasicLit); ok {
			constants++
			if rows[value.Value] != 1 {
				t.Errorf("%s = %s has %d rows, want 1", spec.Names[0], value.Value, rows[value.Value])
			}
		}
		return true
	})
	if constants != len(rows) || constants == 0 {
		t.Errorf("%d constants and %d rows", constants, len(rows))
	}
	for _, info := range Codes {
		for _, follows := range []CloseCode{info.Close, info.MayClose} {
			if follows != 0 && rows[strconv.Itoa(int(follows))] == 0 {
				t.Errorf("%s is followed by %d, which no row explains", info.Code, follows)
			}
		}
	}
}

// docs/protocol.md shows exactly the rows of Codes and CloseCodes.
func TestCodesInProtocol(t *testing.T) {
	want := []string{"| ERR line | meaning | close |", "|---|---|---|"}
	for _, info := range Codes {
		line, then := "ERR:"+string(info.Code), ""
		if info.Argument != "" {
			line += ":" + info.Argument
		}
		switch {
		case info.Close != 0:
			then = strconv.Itoa(int(info.Close))
		case info.MayClose != 0:
			then = fmt.Sprintf("perhaps %d", info.MayClose)
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s |", line, info.Meaning, then))
	}
	sameTable(t, want)

	want = []string{"| close | meaning |", "|---|---|"}
	for _, info := range CloseCodes {
		want = append(want, fmt.Sprintf("| %d | %s |", info.Close, info.Meaning))
	}
	sameTable(t, want)
}

// sameTable checks that the section Codes has the table, rows in this order and
// no other.
func sameTable(t *testing.T, want []string) {
	t.Helper()
	var got []string
	for _, line := range strings.Split(protocolSections(t)["Codes"], "\n") {
		if len(got) == 0 && line != want[0] {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			if len(got) > 0 {
				break
			}
			continue
		}
		got = append(got, line)
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("docs/protocol.md, Codes, has the table\n%s\nthe code says\n%s", a, b)
	}
}

// Comments all over the project cite these sections by name.
func TestProtocolSections(t *testing.T) {
	sections := protocolSections(t)
	for _, name := range []string{
		"Names", "Patterns", "Grants", "Frames", "Lines", "History", "Work queues", "Presence", "WebSocket", "WebTransport", "REST", "Codes", "Promises", "Secrets",
	} {
		if strings.TrimSpace(sections[name]) == "" {
			t.Errorf("docs/protocol.md has no section %s, or an empty one", name)
		}
	}
}

// protocolSections returns the text of each top-level section.
func protocolSections(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for _, section := range bytes.Split(data, []byte("\n## "))[1:] {
		title, text, _ := strings.Cut(string(section), "\n")
		sections[title] = text
	}
	return sections
}
