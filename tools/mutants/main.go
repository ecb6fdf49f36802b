// Command mutants is a mutation test: it tells how many of 100 small changes of the code
// ("mutants", in mutants.json) the tests find. scripts/mutants.sh says how to run it.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	if err := mutants(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func mutants(args []string) error {
	verb := "run"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("mutants "+verb, flag.ExitOnError)
	home := flags.String("home", ".", "the folder with mutants.json and results/")
	cache := flags.String("cache", "", "a folder for what is built")
	dir := flags.String("tree", ".", "the checkout to try the mutants on")
	only := flags.String("only", "", "numbers of mutants: 1-10,17")
	stage := flags.Int("stage", 3, "the last stage: 1 is the package's own tests, 2 those of packages that import it, 3 the commands")
	importers := flags.Int("importers", 6, "how many packages stage 2 takes, the nearest first")
	jobs := flags.Int("jobs", 2, "how many test processes at a time, in stages 1 and 2")
	var commands []string
	flags.Func("e2e", "a command of stage 3, run in the tree; may be given more than once", func(c string) error {
		commands = append(commands, c)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	l, err := readList(filepath.Join(*home, "mutants.json"))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if verb == "table" {
		return table(l, filepath.Join(*home, "results"))
	}
	t, err := open(*dir, *cache)
	if err != nil {
		return err
	}
	switch verb {
	case "choose":
		if l, err = choose(t, l); err != nil {
			return err
		}
		return l.write(filepath.Join(*home, "mutants.json"))
	case "run":
		l.Mutants = slices.DeleteFunc(l.Mutants, func(m mutant) bool { return !selected(*only, m.ID) })
		r, err := readResults(filepath.Join(*home, "results", t.commit+".jsonl"))
		if err != nil {
			return err
		}
		all, err := readList(filepath.Join(*home, "mutants.json"))
		if err != nil {
			return err
		}
		return run(t, all.Mutants, l.Mutants, r, *stage, *importers, *jobs, commands)
	}
	return fmt.Errorf("unknown command %q: run, table or choose", verb)
}

// open names a tree by its commit.
func open(dir, cache string) (t tree, err error) {
	if t.dir, err = filepath.Abs(dir); err != nil {
		return t, err
	}
	out, err := exec.Command("git", "-C", t.dir, "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return t, fmt.Errorf("%s is no checkout: %w", t.dir, err)
	}
	t.commit = strings.TrimSpace(string(out))
	out, err = exec.Command("git", "-C", t.dir, "status", "--porcelain", "--untracked-files=no").Output()
	if err != nil {
		return t, err
	}
	if len(out) > 0 {
		return t, fmt.Errorf("%s has changes that are not committed: results are filed by commit", t.dir)
	}
	if t.work, err = filepath.Abs(filepath.Join(cache, t.commit)); err != nil {
		return t, err
	}
	return t, os.MkdirAll(t.work, 0o755)
}

func selected(only string, id int) bool {
	if only == "" {
		return true
	}
	for part := range strings.SplitSeq(only, ",") {
		from, to, ok := strings.Cut(part, "-")
		if !ok {
			to = from
		}
		a, errA := strconv.Atoi(from)
		b, errB := strconv.Atoi(to)
		if errA == nil && errB == nil && a <= id && id <= b {
			return true
		}
	}
	return false
}

// run tries mutants, stage by stage, and leaves out what has a result. The build has all
// mutants, whichever are tried.
func run(t tree, all, tried []mutant, r *results, stage, importers, jobs int, commands []string) error {
	in, err := t.prepare("tree", all)
	if err != nil {
		return err
	}
	tests, err := newTester(t, in)
	if err != nil {
		return err
	}
	g, err := t.imports()
	if err != nil {
		return err
	}
	for _, m := range tried {
		if why := in.gone[m.ID]; why != "" {
			if _, settled := r.of(m); !settled {
				if err := r.add(result{ID: m.ID, Key: m.key(), Outcome: gone, How: why}); err != nil {
					return err
				}
			}
		}
	}
	own := func(m mutant) (result, error) {
		if !g.packages[m.folder()].tested() {
			return verdict{}.result("", false), nil
		}
		return tests.inPackages([]string{m.folder()}, 1, m)
	}
	far := func(m mutant) (result, error) { return tests.inPackages(g.importers(m.folder()), importers, m) }
	if err := each(tried, r, "own", jobs, own); err != nil || stage < 2 {
		return err
	}
	if err := each(tried, r, "importers", jobs, far); err != nil || stage < 3 {
		return err
	}
	for _, command := range commands {
		e2e := func(m mutant) (result, error) {
			v, err := tests.inCommand(command, m)
			return v.result("", slices.Contains(tests.bases[command].Reached, m.ID)), err
		}
		if err := each(tried, r, command, 1, e2e); err != nil {
			return err
		}
	}
	return nil
}

func newTester(t tree, in instrumented) (*tester, error) {
	tests := &tester{tree: t, in: in, bases: make(map[string]baseline), locks: make(map[string]*sync.Mutex)}
	// Binaries and baselines of another list are of no use.
	sources, err := stamp(in)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(t.work, "stamp")
	if old, err := os.ReadFile(file); err != nil || string(old) != sources {
		_ = os.Remove(tests.basesFile())
		return tests, os.WriteFile(file, []byte(sources), 0o644)
	}
	return tests, tests.readBases()
}

// each tries one stage on the mutants that are left.
func each(tried []mutant, r *results, stage string, jobs int, try func(mutant) (result, error)) error {
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	queue := make(chan mutant)
	for range jobs {
		wg.Go(func() {
			for m := range queue {
				begin := time.Now()
				one, err := try(m)
				if err == nil {
					one.ID, one.Key, one.Stage, one.Seconds = m.ID, m.key(), stage, float64(time.Since(begin).Milliseconds())/1000
					fmt.Fprintf(os.Stderr, "%3d %s: %s %s %s\n", m.ID, stage, one.Outcome, one.Package, one.Test)
					err = r.add(one)
				}
				if err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		})
	}
	for _, m := range tried {
		stages, settled := r.of(m)
		if _, done := stages[stage]; !done && !settled {
			queue <- m
		}
	}
	close(queue)
	wg.Wait()
	return errors.Join(errs...)
}

func (v verdict) result(folder string, reached bool) result {
	if v.how == "" {
		return result{Outcome: survived, Reached: &reached}
	}
	return result{Outcome: killed, Package: folder, Test: v.test, How: v.how}
}

// inPackages runs the tests of the first n of these packages that call a mutant's function.
func (r *tester) inPackages(folders []string, n int, m mutant) (result, error) {
	some := false
	for _, folder := range folders {
		b, err := r.packageBase(folder)
		if err != nil {
			return result{}, err
		}
		if !slices.Contains(b.Reached, m.ID) {
			continue
		}
		some = true
		if v, err := r.inPackage(folder, m); err != nil || v.how != "" {
			return v.result(folder, true), err
		}
		if n--; n == 0 {
			break
		}
	}
	return verdict{}.result("", some), nil
}
