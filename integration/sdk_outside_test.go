package integration

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Environment variables of a run that tests one client, which scripts/conformance.sh sets.
const (
	clientVariable           = "MILLRACE_CLIENT"            // the driver, as a command of the shell
	clientTransportsVariable = "MILLRACE_CLIENT_TRANSPORTS" // separated by commas; empty: what hello names
	clientFolderVariable     = "MILLRACE_CLIENT_FOLDER"     // in which the driver runs; empty: the repository's
)

// clientName is the name of that client in sdkKinds.
const clientName = "client"

// useClient makes the client of MILLRACE_CLIENT the only one that is tested. Without the
// variable it does nothing.
func useClient() error {
	command := os.Getenv(clientVariable)
	if command == "" {
		return nil
	}
	p := &sdkProgram{outside: true, command: func() (*exec.Cmd, error) {
		cmd := exec.Command("sh", "-c", "exec "+command)
		cmd.Dir = cmp.Or(os.Getenv(clientFolderVariable), "..")
		return cmd, nil
	}}
	cmd, err := p.command()
	if err != nil {
		return err
	}
	d, hello, err := startDriver(cmd, os.DevNull, waitTimeout, func(sdkReport) error { return errors.New("nobody has asked for it") }, func(error) {})
	if err != nil {
		return fmt.Errorf("%s %q: %w", clientVariable, command, err)
	}
	if err := d.end(); err != nil {
		return fmt.Errorf("%s %q: %w", clientVariable, command, err)
	}
	p.lacks = hello.Lacks
	sdkPrograms[clientName] = p
	sdkKinds = nil
	transports := hello.Transports
	if named := os.Getenv(clientTransportsVariable); named != "" {
		transports = strings.Split(named, ",")
	}
	for _, transport := range transports {
		if !slices.Contains(hello.Transports, transport) {
			return fmt.Errorf("%s names %q, and the client has %q", clientTransportsVariable, transport, hello.Transports)
		}
		sdkKinds = append(sdkKinds, sdkKind{clientName, transport})
	}
	clientOutcomes = &outcomes{cells: map[string]map[string]string{}}
	return nil
}

// sdkSupported begins a scenario, which may be about one transport only. It skips the test
// where the client of MILLRACE_CLIENT lacks what the scenario needs. Ours lack nothing.
func sdkSupported(t *testing.T, name, only string, needs []string) {
	t.Helper()
	clientOutcomes.add(name)
	var lacking []string
	if len(sdkKindsOver(only)) == 0 {
		lacking = append(lacking, only)
	}
	for _, feature := range needs {
		if sdkLacks(feature) {
			lacking = append(lacking, feature)
		}
	}
	if len(lacking) > 0 {
		text := "not supported: " + strings.Join(lacking, ", ")
		for _, kind := range sdkKinds {
			clientOutcomes.set(name, kind, text)
		}
		t.Skip(text)
	}
}

// sdkLacks reports whether the client of MILLRACE_CLIENT lacks a feature.
func sdkLacks(feature string) bool {
	p := sdkPrograms[clientName]
	return p != nil && slices.Contains(p.lacks, feature)
}

// clientOutcomes is what comes of the client of MILLRACE_CLIENT; nil: there is none.
var clientOutcomes *outcomes

// outcomes is a table of scenarios and transports. All methods of nil do nothing.
type outcomes struct {
	mu        sync.Mutex
	scenarios []string
	cells     map[string]map[string]string // by scenario and transport
}

func (o *outcomes) add(scenario string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.scenarios = append(o.scenarios, scenario)
	o.cells[scenario] = map[string]string{}
}

func (o *outcomes) set(scenario string, kind sdkKind, text string) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cells[scenario][kind.transport] = text
}

// watch notes what comes of a test.
func (o *outcomes) watch(t *testing.T, scenario string, kinds ...sdkKind) {
	if o == nil {
		return
	}
	t.Cleanup(func() {
		text := "passed"
		if t.Failed() {
			text = "FAILED"
		}
		for _, kind := range kinds {
			o.set(scenario, kind, text)
		}
	})
}

// print prints the table. It reports whether there was something to print, if it has to.
func (o *outcomes) print() bool {
	if o == nil || len(o.scenarios) == 0 {
		return o == nil
	}
	all := clientScenarios()
	slices.SortFunc(o.scenarios, func(a, b string) int { return cmp.Compare(slices.Index(all, a), slices.Index(all, b)) })
	counts := map[string]int{}
	row := func(name string, cell func(transport string) string) {
		fmt.Printf("%-38s", name)
		for _, kind := range sdkKinds {
			fmt.Printf("  %-24s", cell(kind.transport))
		}
		fmt.Println()
	}
	fmt.Println()
	row("scenario", func(transport string) string { return transport })
	for _, scenario := range o.scenarios {
		row(scenario, func(transport string) string {
			text := cmp.Or(o.cells[scenario][transport], "–") // it is about the other transport
			word, _, _ := strings.Cut(text, ":")
			counts[word]++
			return text
		})
	}
	fmt.Printf("\n%d passed, %d failed, %d not supported\n", counts["passed"], counts["FAILED"], counts["not supported"])
	return true
}
