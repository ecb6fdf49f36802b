// Testreport sums up runs of tests. Its input and its own files are events like those of
// "go test -json", one a line; the reporters for Node and pytest in scripts/testing write
// them, too.
//
//	go test -json ... | testreport go FILE   as go test prints without -json; results to FILE
//	testreport slowest FOLDER                the ten slowest tests of the results in FOLDER
//	testreport table FOLDER                  the table of scripts/stress-tests.sh
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
)

// module is left out of names of packages in tables.
const module = "github.com/millrace/millrace/"

// event is one of "go test -json" (go doc test2json); Elapsed is in seconds.
type event struct {
	Action, Package string
	Test            string  `json:",omitempty"`
	Elapsed         float64 `json:",omitempty"`
	Output          string  `json:",omitempty"`
	ImportPath      string  `json:",omitempty"`
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: testreport go FILE | slowest FOLDER | table FOLDER")
	}
	out := bufio.NewWriter(os.Stdout)
	err := run(out, os.Args[1], os.Args[2])
	if err = errors.Join(err, out.Flush()); err != nil {
		log.Fatal(err)
	}
}

func run(w *bufio.Writer, command, path string) error {
	switch command {
	case "go":
		results, err := os.Create(path)
		if err != nil {
			return err
		}
		return errors.Join(printGo(os.Stdin, w, results), results.Close())
	case "slowest":
		return slowest(w, path)
	case "table":
		return table(w, path)
	}
	return fmt.Errorf("unknown command %q: use go, slowest or table", command)
}

// readEvents calls take for each event of r, and other for each other line.
func readEvents(r io.Reader, take func(event), other func(line string)) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				take(e)
			} else {
				other(line)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readResults calls take for the result of each test in the folder's files *.jsonl.
func readResults(folder string, take func(event)) error {
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return readEvents(f, func(e event) {
			e.Package = strings.TrimPrefix(e.Package, module)
			take(e)
		}, func(string) {}) // a run that was stopped leaves half a line
	})
}
