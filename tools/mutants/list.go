package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/build"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	seed = 36  // of the choice
	size = 100 // of the list
)

// list is mutants.json.
type list struct {
	Commit   string     `json:"commit"` // from whose code the mutants were chosen
	Mutants  []mutant   `json:"mutants"`
	Rejected []rejected `json:"rejected"`
}

// mutant is one change of the code. It is found by texts, not by line numbers, so that
// it is the same one after other changes of its file.
type mutant struct {
	ID       int    `json:"id"`
	File     string `json:"file"`
	Func     string `json:"func"`   // with its receiver's type: Hub.Publish
	Line     string `json:"line"`   // without indentation
	Nth      int    `json:"nth"`    // of the lines in the function with this text, from 1
	Column   int    `json:"column"` // of Old in Line, in bytes from 0
	Operator string `json:"operator"`
	Old      string `json:"old"`
	New      string `json:"new"`
}

// rejected is a mutant that was chosen, read, and replaced by another one.
type rejected struct {
	Mutant mutant `json:"mutant"`
	Why    string `json:"why"`
}

// key is the same for the same change.
func (m mutant) key() string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s|%s|%s|%d|%d|%s|%s", m.File, m.Func, m.Line, m.Nth, m.Column, m.Old, m.New)
	return fmt.Sprintf("%016x", h.Sum64())
}

func (m mutant) folder() string { return filepath.Dir(m.File) }

func readList(path string) (l list, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return l, err
	}
	return l, json.Unmarshal(text, &l)
}

func (l list) write(path string) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(l); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// choose makes the list from the tree: the same one for the same code, except that
// what old rejects is replaced.
func choose(t tree, old list) (list, error) {
	chosen := list{Commit: t.commit, Rejected: old.Rejected}
	folders, err := subjects(t.dir)
	if err != nil {
		return list{}, err
	}
	no := make(map[string]bool)
	for _, r := range old.Rejected {
		no[r.Mutant.key()] = true
	}
	lines, total := make(map[string]int), 0
	found := make(map[string][]mutant)
	for _, folder := range folders {
		n, candidates, err := candidatesIn(t.dir, folder)
		if err != nil {
			return list{}, err
		}
		lines[folder], found[folder] = n, candidates
		total += n
	}
	for folder, n := range shares(folders, lines, total) {
		drawn := draw(folder, found[folder])
		// Many do not compile, such as an assignment without which a variable is not used.
		drawn = drawn[:min(len(drawn), 6*n+10)]
		compiling, err := t.compiling(folder, drawn)
		if err != nil {
			return list{}, err
		}
		taken := make(map[string]bool) // functions: one mutant each
		for _, m := range compiling {
			if in := m.File + m.Func; n > 0 && !taken[in] && !no[m.key()] {
				taken[in] = true
				chosen.Mutants = append(chosen.Mutants, m)
				n--
			}
		}
		if n > 0 {
			return list{}, fmt.Errorf("%s has %d mutants too few", folder, n)
		}
	}
	slices.SortStableFunc(chosen.Mutants, func(a, b mutant) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Func, b.Func))
	})
	for i := range chosen.Mutants {
		chosen.Mutants[i].ID = i + 1
	}
	return chosen, nil
}

// subjects are the folders of packages that mutants are chosen from.
func subjects(dir string) (folders []string, err error) {
	out, err := exec.Command("git", "-C", dir, "ls-files", "pubsub", "tokenstore", "client", "wire", "caddymodule").Output()
	if err != nil {
		return nil, err
	}
	for file := range strings.Lines(string(out)) {
		folder := filepath.Dir(strings.TrimSpace(file))
		// Packages such as brokertest are tests, too.
		if strings.HasSuffix(strings.TrimSpace(file), ".go") && !strings.HasSuffix(folder, "test") {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

// sources are the files of a package that this machine builds.
func sources(dir, folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(dir, folder))
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "doc.go" {
			continue
		}
		if ok, err := build.Default.MatchFile(filepath.Join(dir, folder), name); err != nil {
			return nil, err
		} else if ok {
			files = append(files, filepath.Join(folder, name))
		}
	}
	return files, nil
}

// shares splits the list among the packages by their lines, the largest remainders first.
func shares(folders []string, lines map[string]int, total int) map[string]int {
	n, left := make(map[string]int), size
	for _, f := range folders {
		n[f] = size * lines[f] / total
		left -= n[f]
	}
	rest := slices.Clone(folders)
	slices.SortStableFunc(rest, func(a, b string) int {
		return cmp.Compare(size*lines[b]%total, size*lines[a]%total)
	})
	for _, f := range rest[:left] {
		n[f]++
	}
	return n
}

// draw puts candidates in a random order in which each operator is as likely as the
// others, however often the code has what it changes.
func draw(folder string, candidates []mutant) (drawn []mutant) {
	h := fnv.New64a()
	h.Write([]byte(folder))
	random := rand.New(rand.NewPCG(seed, h.Sum64()))
	random.Shuffle(len(candidates), func(i, j int) { candidates[i], candidates[j] = candidates[j], candidates[i] })
	by := make(map[string][]mutant)
	for _, m := range candidates {
		by[m.Operator] = append(by[m.Operator], m)
	}
	operators := make([]string, 0, len(by))
	for operator := range by {
		operators = append(operators, operator)
	}
	slices.Sort(operators)
	for len(operators) > 0 {
		i := random.IntN(len(operators))
		of := operators[i]
		drawn = append(drawn, by[of][0])
		if by[of] = by[of][1:]; len(by[of]) == 0 {
			operators = slices.Delete(operators, i, i+1)
		}
	}
	return drawn
}
