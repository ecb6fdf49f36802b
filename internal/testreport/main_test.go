package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package that passes has go test's one line, one that fails all its lines; a test without
// a result has failed.
func TestGo(t *testing.T) {
	const input = `{"Action":"run","Package":"p/good","Test":"TestA"}
{"Action":"output","Package":"p/good","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p/good","Test":"TestA","Output":"said\n"}
{"Action":"pass","Package":"p/good","Test":"TestA","Elapsed":1.5}
{"Action":"output","Package":"p/good","Output":"PASS\n"}
{"Action":"output","Package":"p/good","Output":"ok  \tp/good\t1.6s\n"}
not an event
{"Action":"run","Package":"p/kept","Test":"TestK"}
{"Action":"pass","Package":"p/kept","Test":"TestK","Elapsed":9}
{"Action":"output","Package":"p/kept","Output":"ok  \tp/kept\t(cached)\n"}
{"Action":"pass","Package":"p/kept","Elapsed":9}
{"Action":"pass","Package":"p/good","Elapsed":1.6}
{"Action":"run","Package":"p/bad","Test":"TestB"}
{"Action":"output","Package":"p/bad","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p/bad","Test":"TestB","Output":"panic: why\n"}
{"Action":"output","Package":"p/bad","Output":"FAIL\tp/bad\t0.1s\n"}
{"Action":"fail","Package":"p/bad","Elapsed":0.1}
{"ImportPath":"p/broken","Action":"build-output","Output":"x.go:1: what\n"}
`
	var out, results strings.Builder
	w := bufio.NewWriter(&out)
	if err := printGo(strings.NewReader(input), w, &results); err != nil {
		t.Fatal(err)
	}
	const want = "not an event\nok  \tp/kept\t(cached)\nok  \tp/good\t1.6s\npanic: why\nFAIL\tp/bad\t0.1s\nx.go:1: what\n"
	if out.String() != want {
		t.Errorf("got\n%q, want\n%q", out.String(), want)
	}
	const events = `{"Action":"pass","Package":"p/good","Test":"TestA","Elapsed":1.5}
{"Action":"fail","Package":"p/bad","Test":"TestB"}
`
	if results.String() != events {
		t.Errorf("got the results\n%s, want\n%s", results.String(), events)
	}
}

// write makes a run: its first lines, and its results.
func write(t *testing.T, folder, run, results string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"run": run, "x.jsonl": results} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTable(t *testing.T) {
	folder := t.TempDir()
	const good = `{"Action":"pass","Package":"` + module + `wire","Test":"TestA","Elapsed":1}
{"Action":"pass","Package":"sdk/js/x.test.js","Test":"a/b works","Elapsed":2}
{"Action":"pass","Package":"sdk/js/x.test.js","Test":"hal`
	write(t, filepath.Join(folder, "1"), "go test ./wire\nalone\nc8fe15b\n10\n0\n", good)
	write(t, filepath.Join(folder, "2"), "go test ./wire\nalone\nabcdef0\n20\n1\n",
		`{"Action":"fail","Package":"`+module+`wire","Test":"TestA","Elapsed":3}`+"\n")
	write(t, filepath.Join(folder, "3"), "go test ./wire\n4 busy loops\nc8fe15b\n30\n0\n", good)
	var out strings.Builder
	if err := table(&out, folder); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{
		"| `go test ./wire` | alone | 2 | 1 | 10.00 | 20.00 | c8fe15b, abcdef0 |\n",
		"| `go test ./wire` | 4 busy loops | 1 | 0 | 30.00 | 30.00 | c8fe15b |\n",
		"| TestA (wire) | 2 | 1 | 1.00 | 3.00 |\n",
		"| a/b works (sdk/js/x.test.js) | 1 | 0 | 2.00 | 2.00 |\n",
	} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("no row %q in\n%s", row, out.String())
		}
	}
	out.Reset()
	if err := slowest(&out, folder); err != nil || !strings.HasPrefix(out.String(), "slowest tests\n     3.0 s  TestA  wire\n") {
		t.Errorf("slowest: %v, %s", err, out.String())
	}
	if err := table(&out, t.TempDir()); err == nil {
		t.Error("an empty folder has a table")
	}
}
