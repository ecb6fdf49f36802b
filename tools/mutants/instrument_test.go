package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const program = `package main

import "fmt"

type set[T comparable] []T

func (s set[T]) has(_ string, of T) bool {
	for _, one := range s {
		if one == of {
			return true
		}
	}
	return false
}

func sum[T int | float64](first T, more ...T) (all T) {
	all = first
	for _, n := range more {
		all += n
	}
	return all
}

func show(int, ...string) {
	fmt.Println(set[int]{1}.has("", 1), set[int](nil).has("", 7), sum(5, 2, 1), len("ab") < 2 && true)
}

func main() { show(0, "a") }
`

// The program prints something else with each mutant, and the same as before without.
func TestMutants(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module program\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, found, err := candidatesIn(dir, ".")
	if err != nil {
		t.Fatal(err)
	}
	var mutants []mutant
	for _, m := range append(found, mutant{File: "main.go", Func: "sum", Line: "all -= n", Nth: 1, Old: "all -= n"}) {
		m.ID = len(mutants) + 1
		mutants = append(mutants, m)
	}
	gone := len(mutants)

	tree := tree{dir: dir, work: t.TempDir()}
	in, err := tree.prepare("tree", mutants)
	if err != nil {
		t.Fatal(err)
	}
	if in.gone[gone] != "no such line" {
		t.Errorf("a line that is not there: got %q", in.gone[gone])
	}
	built := filepath.Join(dir, "built")
	build := exec.Command("go", "build", "-overlay="+in.overlay, "-o", built, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const want = "true false 8 false\n"
	if got := output(t, built, "0"); got != want {
		t.Errorf("without a mutant: got %q, want %q", got, want)
	}
	seen := t.TempDir()
	if got := output(t, built, seen); got != want || len(reached(seen)) != len(mutants)-len(in.gone) {
		t.Errorf("got %q and reached %v, want %q and %d", got, reached(seen), want, len(mutants)-len(in.gone))
	}
	for _, m := range mutants {
		if in.gone[m.ID] != "" {
			continue
		}
		what := strings.Join([]string{m.Func, m.Operator, m.Old, m.New}, " ")
		same := what == "show constant 7 8" || what == "show value true false" // these are equivalent
		if got := output(t, built, strconv.Itoa(m.ID)); (got == want) != same {
			t.Errorf("%s: got %q", what, got)
		}
	}
}

func output(t *testing.T, program, which string) string {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), variable+"="+which)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("with %s: %v", which, err)
	}
	return string(out)
}
