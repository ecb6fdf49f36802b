package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// variable says which mutant a process runs: its number, 0 for none, or the path of a
// folder, in which the processes make an empty file for each mutant that they come by.
const variable = "MILLRACE_MUTANT"

// switches is what each package with mutants has in addition. Processes whose environment
// has no variable, such as edges of the end-to-end tests, read the file.
const switches = `package %s

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

var mutantNumber, mutantFolder = mutantRead()

func mutantRead() (int, string) {
	which, ok := os.LookupEnv(%q)
	if !ok {
		text, _ := os.ReadFile(%q)
		which = strings.TrimSpace(string(text))
	}
	if strings.HasPrefix(which, "/") {
		return -1, which
	}
	n, _ := strconv.Atoi(which)
	return n, ""
}

var mutantReached [%d]atomic.Bool

func mutantOn(n int) bool { return mutantNumber == n || mutantNumber < 0 && mutantReach(n) }

func mutantReach(n int) bool {
	if !mutantReached[n].Swap(true) {
		_ = os.WriteFile(mutantFolder+"/"+strconv.Itoa(n), nil, 0o600)
	}
	return false
}
`

// tree is a checkout that mutants are applied to, and the folder for what is made of it.
type tree struct{ dir, work, commit string }

// place is where a mutant is in a tree.
type place struct {
	mutant
	fn     *ast.FuncDecl
	offset int
}

// locate finds a mutant in its file, or in another file of the package to which its function moved.
func (t tree) locate(m mutant, files map[string]*file) (in *file, p place, ok bool) {
	names, _ := sources(t.dir, m.folder())
	slices.SortStableFunc(names, func(a, b string) int {
		switch m.File {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	for _, name := range names {
		if files[name] == nil {
			f, err := parse(t.dir, name)
			if err != nil {
				continue
			}
			files[name] = f
		}
		f := files[name]
		for _, fn := range f.funcs {
			if funcName(fn) != m.Func {
				continue
			}
			nth := 0
			eachLine(f.src, f.offset(fn.Pos()), f.offset(fn.End()), func(start int, text string) {
				if text != m.Line {
					return
				}
				if nth++; nth == m.Nth {
					indent := bytes.Index(f.src[start:], []byte(m.Line))
					at := start + indent + m.Column
					p, ok = place{m, fn, at}, bytes.HasPrefix(f.src[at:], []byte(m.Old))
				}
			})
			if ok {
				return f, p, true
			}
		}
	}
	return nil, place{}, false
}

// instrumented is a tree whose build has many mutants; a switch chooses one.
type instrumented struct {
	overlay string            // the path of the JSON file for go build -overlay
	gone    map[int]string    // mutants that this tree does not have, and why
	copies  map[string][]span // by the name of the file in the overlay
	folders []string          // of the packages that have mutants
}

// span says which lines are the code of a mutant.
type span struct{ from, to, id int }

// instrument writes the overlay. The code of a function with a mutant is there twice: as it
// is, and as another function that has the mutant. The former calls the latter if
// the mutant is switched on. So all mutants need one build, and its lines keep their numbers.
func (t tree) instrument(name string, mutants []mutant) (in instrumented, err error) {
	in = instrumented{
		overlay: filepath.Join(t.work, name+".json"), gone: make(map[int]string), copies: make(map[string][]span),
	}
	out := filepath.Join(t.work, name)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return in, err
	}
	files, places, most := make(map[string]*file), make(map[string][]place), 0
	for _, m := range mutants {
		most = max(most, m.ID)
		if f, p, ok := t.locate(m, files); ok {
			places[f.name] = append(places[f.name], p)
		} else {
			in.gone[m.ID] = "no such line"
		}
	}
	replaced := make(map[string]string)
	write := func(name string, text []byte) error {
		path := filepath.Join(out, flat(name))
		replaced[filepath.Join(t.dir, name)] = path
		return os.WriteFile(path, text, 0o644)
	}
	for name, ps := range places {
		f := files[name]
		text, spans := f.withMutants(ps)
		in.copies[flat(name)] = spans
		if err := write(name, text); err != nil {
			return in, err
		}
		if folder := filepath.Dir(name); !slices.Contains(in.folders, folder) {
			in.folders = append(in.folders, folder)
			text := fmt.Sprintf(switches, f.ast.Name.Name, variable, t.switchFile(), most+1)
			if err := write(filepath.Join(folder, "mutant_switch.go"), []byte(text)); err != nil {
				return in, err
			}
		}
	}
	slices.Sort(in.folders)
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return in, err
	}
	return in, os.WriteFile(in.overlay, text, 0o644)
}

// flat makes one name of a path.
func flat(path string) string { return strings.ReplaceAll(path, "/", "__") }

func (t tree) switchFile() string { return filepath.Join(t.work, "switch") }

// withMutants returns the file with its mutants, and the lines of each.
func (f *file) withMutants(places []place) (text []byte, spans []span) {
	type edit struct {
		at   int
		del  int
		text string
	}
	var edits []edit
	var copies bytes.Buffer
	by := make(map[*ast.FuncDecl][]place)
	for _, p := range places {
		by[p.fn] = append(by[p.fn], p)
	}
	line := 1 + bytes.Count(f.src, []byte("\n"))
	for _, fn := range f.funcs {
		if len(by[fn]) == 0 {
			continue
		}
		// Name what has no name, so that it can be handed on.
		var arguments []string
		receiver := ""
		fields := slices.Clone(fn.Type.Params.List)
		if fn.Recv != nil {
			fields = slices.Concat(fn.Recv.List, fields)
		}
		for i, field := range fields {
			var names []string
			for j, name := range field.Names {
				as := name.Name
				if as == "_" {
					as = fmt.Sprintf("mutantP%d_%d", i, j)
					edits = append(edits, edit{f.offset(name.Pos()), 1, as})
				}
				names = append(names, as)
			}
			if len(field.Names) == 0 {
				names = []string{fmt.Sprintf("mutantP%d", i)}
				edits = append(edits, edit{f.offset(field.Type.Pos()), 0, names[0] + " "})
			}
			if fn.Recv != nil && i == 0 {
				receiver = names[0] + "."
				continue
			}
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				names[0] += "..."
			}
			arguments = append(arguments, names...)
		}
		typed := ""
		if fn.Type.TypeParams != nil {
			var names []string
			for _, field := range fn.Type.TypeParams.List {
				for _, name := range field.Names {
					names = append(names, name.Name)
				}
			}
			typed = "[" + strings.Join(names, ", ") + "]"
		}
		head := ""
		for _, p := range by[fn] {
			name := fmt.Sprintf("mutant%d_%s", p.ID, fn.Name.Name)
			call := receiver + name + typed + "(" + strings.Join(arguments, ", ") + ")"
			if fn.Type.Results == nil {
				call += "; return"
			} else {
				call = "return " + call
			}
			head += fmt.Sprintf(" if mutantOn(%d) { %s };", p.ID, call)

			begin, end := f.offset(fn.Pos()), f.offset(fn.End())
			at := f.offset(fn.Name.Pos())
			code := string(f.src[begin:at]) + name + string(f.src[at+len(fn.Name.Name):p.offset]) +
				p.New + string(f.src[p.offset+len(p.Old):end]) + "\n"
			spans = append(spans, span{line, line + strings.Count(code, "\n"), p.ID})
			line += strings.Count(code, "\n")
			copies.WriteString(code)
		}
		edits = append(edits, edit{f.offset(fn.Body.Lbrace) + 1, 0, head})
	}
	slices.SortFunc(edits, func(a, b edit) int { return b.at - a.at })
	text = slices.Clone(f.src)
	for _, e := range edits {
		text = slices.Replace(text, e.at, e.at+e.del, []byte(e.text)...)
	}
	return append(text, copies.Bytes()...), spans
}

// compilerError is a place and an error; the file is that of the overlay.
var compilerError = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+\.go):(\d+):\d+: (.*)$`)

// prepare instruments a tree with those of the mutants that compile in it.
func (t tree) prepare(name string, mutants []mutant) (instrumented, error) {
	gone := make(map[int]string)
	for {
		in, err := t.instrument(name, mutants)
		if err != nil {
			return in, err
		}
		for id, why := range in.gone {
			gone[id] = why
		}
		in.gone = gone
		if len(in.folders) == 0 {
			return in, nil
		}
		args := []string{"build", "-gcflags=-e", "-overlay=" + in.overlay}
		for _, folder := range in.folders {
			args = append(args, "./"+folder)
		}
		cmd := exec.Command("go", args...)
		cmd.Dir = t.dir
		out, err := cmd.CombinedOutput()
		if err == nil {
			return in, nil
		}
		before := len(mutants)
		for _, found := range compilerError.FindAllStringSubmatch(string(out), -1) {
			at, _ := strconv.Atoi(found[2])
			for _, s := range in.copies[filepath.Base(found[1])] {
				if s.from <= at && at < s.to {
					gone[s.id] = "does not compile: " + found[3]
				}
			}
		}
		mutants = slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return gone[m.ID] != "" })
		if len(mutants) == before {
			return in, errors.New("go build: " + string(out))
		}
	}
}

// compiling returns those mutants of a package that compile.
func (t tree) compiling(folder string, mutants []mutant) ([]mutant, error) {
	for i := range mutants {
		mutants[i].ID = i + 1
	}
	in, err := t.prepare("choose/"+folder, mutants)
	return slices.DeleteFunc(mutants, func(m mutant) bool { return in.gone[m.ID] != "" }), err
}
