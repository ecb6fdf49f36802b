// Packagemap prints who imports whom among the packages of this module: the highest
// layer first, where a package is one layer above the highest that it imports. Tests and
// the examples are left out. docs/architecture.md shows its output.
//
//	go run ./internal/packagemap [<folder of another checkout>]
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const module = "github.com/millrace/millrace"

func main() {
	folder := "."
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := write(os.Stdout, folder); err != nil {
		log.Fatal(err)
	}
}

// write writes the map of the module that has the folder.
func write(w io.Writer, folder string) error {
	imports, err := list(folder)
	if err != nil {
		return err
	}
	layers := map[string]int{}
	for name := range imports {
		layer(name, imports, layers)
	}
	names := slices.SortedFunc(func(yield func(string) bool) {
		for name := range imports {
			if !yield(name) {
				return
			}
		}
	}, func(a, b string) int {
		if d := layers[b] - layers[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	last := -1
	for _, name := range names {
		at := ""
		if layers[name] != last {
			last = layers[name]
			at = fmt.Sprint(last)
		}
		line := fmt.Sprintf("%2s  %-24s", at, name)
		if len(imports[name]) > 0 {
			line += " → " + strings.Join(imports[name], ", ")
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// list returns what each package of the module imports of the module, without the
// module's path, sorted.
func list(folder string) (map[string][]string, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir, cmd.Stderr = folder, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	imports := map[string][]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return imports, nil
		} else if err != nil {
			return nil, err
		}
		name, ours := strings.CutPrefix(p.ImportPath, module+"/")
		if !ours || strings.HasPrefix(name, "examples/") || strings.HasPrefix(name, "integration") {
			continue
		}
		imports[name] = []string{}
		for _, imported := range p.Imports {
			if short, ours := strings.CutPrefix(imported, module+"/"); ours {
				imports[name] = append(imports[name], short)
			}
		}
		slices.Sort(imports[name])
	}
}

// layer sets and returns the layer of a package.
func layer(name string, imports map[string][]string, layers map[string]int) int {
	if l, known := layers[name]; known {
		return l
	}
	l := 0
	for _, imported := range imports[name] {
		l = max(l, layer(imported, imports, layers)+1)
	}
	layers[name] = l
	return l
}
