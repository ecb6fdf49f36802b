package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	killed   = "killed"
	survived = "survived"
	gone     = "gone"
)

// result is a line of a file of results.
type result struct {
	ID      int     `json:"id"`
	Key     string  `json:"key"`             // of the mutant, in case the list changes
	Stage   string  `json:"stage,omitempty"` // own, importers, or the command
	Outcome string  `json:"outcome"`
	Package string  `json:"package,omitempty"` // whose test killed it
	Test    string  `json:"test,omitempty"`
	How     string  `json:"how,omitempty"`     // fails, crash or time-out; why it is gone
	Reached *bool   `json:"reached,omitempty"` // for survivors: whether a test calls its function
	Seconds float64 `json:"seconds"`
}

// results are those of one tree, in a file that only grows.
type results struct {
	path string
	mu   sync.Mutex
	all  []result
}

func readResults(path string) (*results, error) {
	r := &results{path: path}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return r, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var one result
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		r.all = append(r.all, one)
	}
	return r, nil
}

func (r *results) add(one result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, one)
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(r.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(text, '\n'))
	return err
}

// of returns the results of a mutant by stage, and whether it is killed or gone, so that
// no stage is left for it.
func (r *results) of(m mutant) (stages map[string]result, settled bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stages = make(map[string]result)
	for _, one := range r.all {
		if one.ID == m.ID && one.Key == m.key() {
			stages[one.Stage] = one
			settled = settled || one.Outcome != survived
		}
	}
	return stages, settled
}

// table prints what the results of every tree say.
func table(l list, folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		r, err := readResults(path)
		if err != nil {
			return err
		}
		kills, lost, untested := make(map[string]int), 0, 0
		var left []string
		sum := 0
		for _, m := range l.Mutants {
			stages, settled := r.of(m)
			switch {
			case len(stages) == 0:
				untested++
			case stages[""].Outcome == gone:
				lost++
			case settled:
				sum++
				for stage, one := range stages {
					if one.Outcome == killed {
						kills[stage]++
					}
				}
			default:
				called := ""
				for _, one := range stages {
					if one.Reached != nil && *one.Reached {
						called = "called by tests"
					}
				}
				names := slices.Sorted(maps.Keys(stages))
				left = append(left, fmt.Sprintf("  %3d %s, %s: %s: %s -> %s\n      %s\n      survived %s; %s", m.ID, m.File, m.Func,
					m.Operator, oneLine(m.Old), oneLine(m.New), m.Line, strings.Join(names, ", "), called))
			}
		}
		counted := sum + len(left)
		fmt.Printf("%s: %d of %d killed", strings.TrimSuffix(filepath.Base(path), ".jsonl"), sum, counted)
		if counted > 0 {
			fmt.Printf(" (%.0f %%)", 100*float64(sum)/float64(counted))
		}
		fmt.Printf("; %d gone, %d not tried\n", lost, untested)
		for _, stage := range slices.Sorted(maps.Keys(kills)) {
			fmt.Printf("  killed by %s: %d\n", stage, kills[stage])
		}
		fmt.Printf("survivors: %d\n%s\n\n", len(left), strings.Join(left, "\n"))
	}
	return nil
}

func oneLine(text string) string {
	if text == "" {
		return "nothing"
	}
	first, _, more := strings.Cut(text, "\n")
	if more {
		return first + " …"
	}
	return first
}
