package main

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// pkg is a package whose tests run.
type pkg struct {
	output  strings.Builder // all of it, but for the lines that -json adds
	last    string          // its last line, such as "ok  \tpath\t1.2s"
	results []event         // of its tests
	running map[string]bool // tests without a result yet
}

// printGo reads the output of "go test -json". It prints one line for a package that
// passes, everything for one that fails, each when the package ends, and writes the
// results of tests to results, but not those that go test has from its cache.
func printGo(r io.Reader, w *bufio.Writer, results io.Writer) error {
	packages := map[string]*pkg{}
	encoder := json.NewEncoder(results)
	var failure error
	save := func(events []event) {
		for _, e := range events {
			if err := encoder.Encode(e); err != nil {
				failure = err
			}
		}
	}
	print := func(text string) {
		_, _ = w.WriteString(text) // Flush says what failed
		if err := w.Flush(); err != nil {
			failure = err
		}
	}
	take := func(e event) {
		if e.Package == "" { // of the compiler
			print(e.Output)
			return
		}
		p := packages[e.Package]
		if p == nil {
			p = &pkg{running: map[string]bool{}}
			packages[e.Package] = p
		}
		switch e.Action {
		case "run":
			p.running[e.Test] = true
		case "output":
			if noise(e.Output) {
				break
			}
			p.output.WriteString(e.Output)
			if e.Test == "" {
				p.last = e.Output
			}
		case "pass", "fail", "skip":
			if e.Test != "" {
				delete(p.running, e.Test)
				p.results = append(p.results, e)
				break
			}
			switch {
			case e.Action == "fail":
				print(p.output.String())
				for test := range p.running { // the process has died
					p.results = append(p.results, event{Action: "fail", Package: e.Package, Test: test})
				}
			case e.Action == "pass":
				print(p.last)
			}
			if !strings.Contains(p.last, "(cached)") {
				save(p.results)
			}
			delete(packages, e.Package)
		}
	}
	err := readEvents(r, take, print)
	for name, p := range packages { // go test has been stopped
		print(p.output.String())
		for test := range p.running {
			p.results = append(p.results, event{Action: "fail", Package: name, Test: test})
		}
		save(p.results)
	}
	if err != nil {
		return err
	}
	return failure
}

// noise says whether go test prints the line only because of -json.
func noise(line string) bool {
	text := strings.TrimLeft(line, " ")
	for _, prefix := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- PASS: "} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}
