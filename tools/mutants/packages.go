package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath                string
	Imports                   []string
	TestGoFiles, XTestGoFiles []string
	TestImports, XTestImports []string
}

func (p goPackage) tested() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// graph is which packages import which, in both ways.
type graph struct {
	module   string
	packages map[string]goPackage // by folder
}

func (t tree) imports() (g graph, err error) {
	g.packages = make(map[string]goPackage)
	cmd := exec.Command("go", "list", "-m")
	cmd.Dir = t.dir
	out, err := cmd.Output()
	if err != nil {
		return g, err
	}
	g.module = strings.TrimSpace(string(out)) + "/"
	cmd = exec.Command("go", "list", "-json=ImportPath,Imports,TestGoFiles,XTestGoFiles,TestImports,XTestImports", "./...")
	cmd.Dir = t.dir
	if out, err = cmd.Output(); err != nil {
		return g, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			return g, err
		}
		g.packages[strings.TrimPrefix(p.ImportPath, g.module)] = p
	}
	return g, nil
}

// importers are the folders whose tests could see a change of a package, the nearest
// first. End-to-end tests are not among them.
func (g graph) importers(folder string) (all []string) {
	near := map[string]int{folder: 0}
	tests := make(map[string]int)
	for queue := []string{folder}; len(queue) > 0; queue = queue[1:] {
		path, far := g.module+queue[0], near[queue[0]]+1
		for name, p := range g.packages {
			if _, ok := near[name]; !ok && slices.Contains(p.Imports, path) {
				near[name] = far
				queue = append(queue, name)
			}
			if slices.Contains(p.Imports, path) || slices.Contains(p.TestImports, path) || slices.Contains(p.XTestImports, path) {
				if d, ok := tests[name]; !ok || far < d {
					tests[name] = far
				}
			}
		}
	}
	for name := range tests {
		if name != folder && g.packages[name].tested() && !strings.HasPrefix(name, "integration") {
			all = append(all, name)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(tests[a], tests[b]), cmp.Compare(a, b))
	})
	return all
}
