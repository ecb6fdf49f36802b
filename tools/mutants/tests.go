package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// baseline is how the tests of a package, or a command, go without a mutant.
type baseline struct {
	Seconds float64  `json:"seconds"`
	Failing []string `json:"failing,omitempty"` // tests that fail without a mutant, too; they do not count
	Reached []int    `json:"reached"`           // the mutants whose functions are called
}

func (b baseline) limit() time.Duration {
	return time.Duration(3*b.Seconds*float64(time.Second)) + 20*time.Second
}

// tester runs the tests of a tree's packages.
type tester struct {
	tree
	in instrumented

	mu    sync.Mutex
	bases map[string]baseline // by folder or command; kept in a file
	locks map[string]*sync.Mutex
}

func (r *tester) basesFile() string { return filepath.Join(r.work, "baselines.json") }

// base returns the baseline of a name, and makes it if there is none.
func (r *tester) base(name string, make func() (baseline, error)) (baseline, error) {
	r.mu.Lock()
	lock := r.locks[name]
	if lock == nil {
		lock = new(sync.Mutex)
		r.locks[name] = lock
	}
	r.mu.Unlock()
	lock.Lock()
	defer lock.Unlock()

	r.mu.Lock()
	b, ok := r.bases[name]
	r.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := make()
	if err != nil {
		return b, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bases[name] = b
	text, err := json.MarshalIndent(r.bases, "", "  ")
	if err != nil {
		return b, err
	}
	fmt.Fprintf(os.Stderr, "%s: %.1f s without a mutant, %d mutants reached, failing: %v\n", name, b.Seconds, len(b.Reached), b.Failing)
	return b, os.WriteFile(r.basesFile(), text, 0o644)
}

func (r *tester) readBases() error {
	text, err := os.ReadFile(r.basesFile())
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	return json.Unmarshal(text, &r.bases)
}

// stamp is the same for the same overlay.
func stamp(in instrumented) (string, error) {
	text, err := os.ReadFile(in.overlay)
	if err != nil {
		return "", err
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &overlay); err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(overlay.Replace)) {
		text, err := os.ReadFile(overlay.Replace[name])
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%s\n%s\n", name, text)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func (r *tester) binary(folder string) string {
	return filepath.Join(r.work, "bin", flat(folder)+".test")
}

// packageBase builds the tests of a package, and runs them without a mutant.
func (r *tester) packageBase(folder string) (baseline, error) {
	return r.base(folder, func() (b baseline, err error) {
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay="+r.in.overlay, "-o", r.binary(folder), "./"+folder)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return b, fmt.Errorf("the tests of %s: %w\n%s", folder, err, out)
		}
		seen, err := os.MkdirTemp(r.work, "seen")
		if err != nil {
			return b, err
		}
		for range 5 {
			begin := time.Now()
			out, failed := r.run(folder, seen, 20*time.Minute, "", b.Failing)
			b.Seconds = time.Since(begin).Seconds()
			if !failed {
				break
			}
			name := killer(out)
			if name == noTest {
				return b, fmt.Errorf("%s fails without a mutant:\n%s", folder, out)
			}
			b.Failing = append(b.Failing, name)
		}
		b.Reached = reached(seen)
		return b, os.RemoveAll(seen)
	})
}

func reached(folder string) []int {
	ids := []int{}
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// run runs the tests of a package, or one of them, with a value of the switch.
func (r *tester) run(folder, which string, limit time.Duration, only string, without []string) (out string, failed bool) {
	args := []string{"-test.v", "-test.failfast", "-test.timeout=" + limit.String()}
	if only != "" {
		args = append(args, "-test.run=^"+only+"$")
	}
	if len(without) > 0 {
		args = append(args, "-test.skip=^("+strings.Join(without, "|")+")$")
	}
	cmd := exec.Command(r.binary(folder), args...)
	cmd.Dir = filepath.Join(r.dir, folder)
	cmd.Env = append(os.Environ(), variable+"="+which)
	return runGroup(cmd, limit+30*time.Second)
}

// runGroup runs a command, and ends every process that it leaves behind.
func runGroup(cmd *exec.Cmd, limit time.Duration) (out string, failed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	log, err := os.CreateTemp("", "mutants")
	if err != nil {
		return err.Error(), true
	}
	defer os.Remove(log.Name())
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return err.Error(), true
	}
	end := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	stop := context.AfterFunc(ctx, end)
	err = cmd.Wait()
	if !stop() {
		err = ctx.Err()
	}
	end()
	text, _ := os.ReadFile(log.Name())
	if ctx.Err() != nil {
		text = append(text, "\npanic: test timed out\n"...)
	}
	return string(text), err != nil
}

// noTest is the killer if no test has failed but the process: a leak check, or a crash.
const noTest = "(the process)"

var (
	failedTest  = regexp.MustCompile(`(?m)^\s*--- FAIL: ([^\s/]+)`)
	hangingTest = regexp.MustCompile(`running tests:\n\s+([^\s/]+)`)
	startedTest = regexp.MustCompile(`(?m)^=== (?:RUN|CONT)\s+([^\s/]+)`)
)

func timedOut(out string) bool { return strings.Contains(out, "panic: test timed out") }

// killer is the first test that failed according to the output.
func killer(out string) string {
	for _, sign := range []*regexp.Regexp{failedTest, hangingTest} {
		if m := sign.FindStringSubmatch(out); m != nil {
			return m[1]
		}
	}
	if strings.Contains(out, "\npanic: ") || strings.Contains(out, "\nfatal error: ") {
		if all := startedTest.FindAllStringSubmatch(out, -1); len(all) > 0 {
			return all[len(all)-1][1]
		}
	}
	return noTest
}

// verdict is what the tests of one package, or one command, say of a mutant.
type verdict struct {
	test, how string // empty if it survives
}

// inPackage runs the tests of a package with a mutant. A test that fails kills it if the same
// test passes without the mutant, and fails with it once more: else the failure was chance,
// or the machine was busy.
func (r *tester) inPackage(folder string, m mutant) (verdict, error) {
	b, err := r.packageBase(folder)
	if err != nil || !slices.Contains(b.Reached, m.ID) {
		return verdict{}, err
	}
	which := strconv.Itoa(m.ID)
	without := slices.Clone(b.Failing)
	for range 5 {
		out, failed := r.run(folder, which, b.limit(), "", without)
		if !failed {
			return verdict{}, nil
		}
		test := killer(out)
		how := "fails"
		switch {
		case timedOut(out):
			how = "time-out"
		case !failedTest.MatchString(out):
			how = "crash"
		}
		only := test
		if test == noTest {
			only = ""
		}
		if _, failed := r.run(folder, "0", b.limit(), only, without); !failed {
			for range 3 {
				if _, failed := r.run(folder, which, b.limit(), only, without); failed {
					return verdict{test, how}, nil
				}
			}
		}
		if test == noTest {
			return verdict{}, nil
		}
		without = append(without, test)
	}
	return verdict{}, nil
}

// inCommand runs a command of the caller, whose programs and tests have the mutants.
func (r *tester) inCommand(command string, m mutant) (verdict, error) {
	b, err := r.base(command, func() (b baseline, err error) {
		if err := r.programs(); err != nil {
			return b, err
		}
		seen, err := os.MkdirTemp(r.work, "seen")
		if err != nil {
			return b, err
		}
		begin := time.Now()
		out, failed := r.command(command, seen, 3*time.Hour)
		b.Seconds, b.Reached = time.Since(begin).Seconds(), reached(seen)
		if failed {
			if b.Failing = failing(out); len(b.Failing) == 0 {
				return b, fmt.Errorf("%s fails without a mutant:\n%s", command, out)
			}
		}
		return b, os.RemoveAll(seen)
	})
	if err != nil || !slices.Contains(b.Reached, m.ID) {
		return verdict{}, err
	}
	var first string
	for range 2 { // the second time confirms
		out, failed := r.command(command, strconv.Itoa(m.ID), b.limit()+time.Minute)
		if timedOut(out) {
			return verdict{killer(out), "time-out"}, nil
		}
		new := slices.DeleteFunc(failing(out), func(test string) bool { return slices.Contains(b.Failing, test) })
		if !failed || len(new) == 0 {
			return verdict{}, nil
		}
		first = new[0]
	}
	return verdict{first, "fails"}, nil
}

func failing(out string) (tests []string) {
	for _, m := range failedTest.FindAllStringSubmatch(out, -1) {
		if !slices.Contains(tests, m[1]) {
			tests = append(tests, m[1])
		}
	}
	return tests
}

func (r *tester) programsFolder() string { return filepath.Join(r.work, "programs") }

// programs builds what the end-to-end tests run, with the mutants: see internal/programs.
func (r *tester) programs() error {
	for name, what := range map[string]string{
		"millrace": "./cmd/millrace", "sdkgo": "./integration/clients/sdkgo",
		"millrace-next": "./cmd/millrace", "nats-server": "github.com/nats-io/nats-server/v2",
	} {
		args := []string{"build", "-overlay=" + r.in.overlay, "-o", filepath.Join(r.programsFolder(), name)}
		if name == "millrace-next" {
			args = append(args, "-ldflags=-X github.com/millrace/millrace/internal/version.number=0.1.1-test")
		}
		cmd := exec.Command("go", append(args, what)...)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", what, err, out)
		}
	}
	return nil
}

// command runs a command with a value of the switch: in the file, since the tests choose
// the environment of edges.
func (r *tester) command(command, which string, limit time.Duration) (out string, failed bool) {
	if err := os.WriteFile(r.switchFile(), []byte(which), 0o644); err != nil {
		return err.Error(), true
	}
	defer os.Remove(r.switchFile())
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(),
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -count=1 -overlay="+r.in.overlay,
		"MILLRACE_TEST_PROGRAMS="+r.programsFolder())
	return runGroup(cmd, limit)
}
