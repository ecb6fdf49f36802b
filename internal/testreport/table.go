package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// series are runs of one command under one load.
type series struct {
	all   tally
	tests map[string]*tally
	// commits are those of the runs, in the order in which they came.
	commits []string
}

// tally is what came of a test in all runs of a series.
type tally struct {
	seconds  []float64
	failures int
	top      bool // it is not a subtest
}

func (t *tally) add(seconds float64, failed bool) {
	t.seconds = append(t.seconds, seconds)
	if failed {
		t.failures++
	}
}

// quantile is the smallest time that a share q of the runs did not exceed.
func (t *tally) quantile(q float64) float64 {
	slices.Sort(t.seconds)
	at := int(q*float64(len(t.seconds))+0.999999) - 1
	return t.seconds[max(0, min(at, len(t.seconds)-1))]
}

func (t *tally) row() string {
	return fmt.Sprintf("%d | %d | %.2f | %.2f |", len(t.seconds), t.failures, t.quantile(0.5), t.quantile(0.99))
}

// slowRows is how many tests that never failed have a row.
const slowRows = 20

// table prints, for the runs below folder, a row for each series, one for each test that
// failed, and one for each of the slowest others. A run is a folder with a file "run": lines
// with command, load, commit, seconds and exit status.
func table(w io.Writer, folder string) error {
	all, err := readSeries(folder)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no run", folder)
	}
	names := slices.Sorted(maps.Keys(all))
	fmt.Fprintln(w, "| command | load | runs | failed | p50, s | p99, s | commits |\n|---|---|---|---|---|---|---|")
	for _, name := range names {
		fmt.Fprintf(w, "| %s | %s %s |\n", name, all[name].all.row(), strings.Join(all[name].commits, ", "))
	}
	for _, name := range names {
		printTests(w, name, all[name].tests)
	}
	return nil
}

func printTests(w io.Writer, name string, tests map[string]*tally) {
	var failed, passed []string
	for test, t := range tests {
		switch {
		case t.failures > 0:
			failed = append(failed, test)
		case t.top:
			passed = append(passed, test)
		}
	}
	slices.SortFunc(failed, func(a, b string) int {
		return cmp.Or(tests[b].failures-tests[a].failures, strings.Compare(a, b))
	})
	slices.SortFunc(passed, func(a, b string) int {
		return cmp.Or(cmp.Compare(tests[b].quantile(0.99), tests[a].quantile(0.99)), strings.Compare(a, b))
	})
	fmt.Fprintf(w, "\n%s: %d tests without subtests, and what failed\n\n", strings.ReplaceAll(name, " | ", ", "), len(passed)+len(failed))
	fmt.Fprintln(w, "| test | runs | failures | p50, s | p99, s |\n|---|---|---|---|---|")
	for _, test := range append(failed, passed[:min(slowRows, len(passed))]...) {
		fmt.Fprintf(w, "| %s | %s\n", strings.ReplaceAll(test, "|", `\|`), tests[test].row())
	}
	if rest := passed[min(slowRows, len(passed)):]; len(rest) > 0 {
		fmt.Fprintf(w, "| the other %d, at most | | 0 | | %.2f |\n", len(rest), tests[rest[0]].quantile(0.99))
	}
}

func readSeries(folder string) (map[string]*series, error) {
	all := map[string]*series{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "run" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		run := strings.Split(strings.TrimSpace(string(data)), "\n")
		if len(run) != 5 {
			return fmt.Errorf("%s has %d lines, not 5", path, len(run))
		}
		seconds, err := strconv.ParseFloat(run[3], 64)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name := "`" + run[0] + "` | " + run[1]
		s := all[name]
		if s == nil {
			s = &series{tests: map[string]*tally{}}
			all[name] = s
		}
		s.all.add(seconds, run[4] != "0")
		if !slices.Contains(s.commits, run[2]) {
			s.commits = append(s.commits, run[2])
		}
		return readResults(filepath.Dir(path), func(e event) {
			if e.Action == "skip" {
				return
			}
			key := e.Test + " (" + e.Package + ")"
			if s.tests[key] == nil {
				s.tests[key] = &tally{top: top(e)}
			}
			s.tests[key].add(e.Elapsed, e.Action == "fail")
		})
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("no results: %w", err)
	}
	return all, err
}
