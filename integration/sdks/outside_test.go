package sdks

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

	"github.com/millrace/millrace/integration/history"
	"github.com/millrace/millrace/integration/sdk"
)

// useClient makes the client of MILLRACE_CLIENT the only one that is tested. Without the
// variable it does nothing.
func useClient() error {
	command := os.Getenv(sdk.ClientVariable)
	if command == "" {
		return nil
	}
	p := &sdk.Program{Outside: true, Command: func() (*exec.Cmd, error) {
		cmd := exec.Command("sh", "-c", "exec "+command)
		cmd.Dir = cmp.Or(os.Getenv(sdk.ClientFolderVariable), "..")
		return cmd, nil
	}}
	cmd, _ := p.Command()
	d, hello, err := sdk.StartDriver(cmd, os.DevNull, sdk.Limit, func(sdk.Report) error { return errors.New("nobody has asked for it") }, func(error) {})
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", sdk.ClientVariable, command, err)
	}
	p.Lacks = hello.Lacks
	sdk.Programs[history.ClientName] = p
	sdk.Kinds = nil
	transports := hello.Transports
	if named := os.Getenv(sdk.ClientTransportsVariable); named != "" {
		transports = strings.Split(named, ",")
	}
	for _, transport := range transports {
		if !slices.Contains(hello.Transports, transport) {
			return fmt.Errorf("%s names %q, and the client has %q", sdk.ClientTransportsVariable, transport, hello.Transports)
		}
		sdk.Kinds = append(sdk.Kinds, sdk.Kind{Where: history.ClientName, Transport: transport})
	}
	clientOutcomes = &outcomes{cells: map[[2]string]string{}}
	return nil
}

// supported begins a scenario. It skips what the client of MILLRACE_CLIENT lacks; ours lack
// nothing.
func supported(t *testing.T, row scenario) {
	t.Helper()
	lacking := slices.DeleteFunc(slices.Clone(row.needs), func(feature string) bool { return !history.SdkLacks(feature) })
	if row.only != "" && !slices.ContainsFunc(sdk.Kinds, func(k sdk.Kind) bool { return k.Transport == row.only }) {
		lacking = append(lacking, row.only)
	}
	if len(lacking) > 0 {
		text := "not supported: " + strings.Join(lacking, ", ")
		clientOutcomes.set(row.name, text, sdk.Kinds...)
		t.Skip(text)
	}
}

// clientOutcomes is what comes of the client of MILLRACE_CLIENT; nil: there is none.
var clientOutcomes *outcomes

// outcomes is a table of scenarios and transports. All methods of nil do nothing.
type outcomes struct {
	mu    sync.Mutex
	cells map[[2]string]string // by scenario and transport
}

func (o *outcomes) set(scenario, text string, kinds ...sdk.Kind) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, kind := range kinds {
		o.cells[[2]string{scenario, kind.Transport}] = text
	}
}

// watch notes what comes of a test.
func (o *outcomes) watch(t *testing.T, scenario string, kinds ...sdk.Kind) {
	t.Cleanup(func() {
		text := "passed"
		if t.Failed() {
			text = "FAILED"
		}
		o.set(scenario, text, kinds...)
	})
}

// print prints the table. It reports whether there was something to print, if it has to.
func (o *outcomes) print() bool {
	if o == nil || len(o.cells) == 0 {
		return o == nil
	}
	counts := map[string]int{}
	fmt.Printf("\n%-38s", "scenario")
	for _, kind := range sdk.Kinds {
		fmt.Printf("  %-24s", kind.Transport)
	}
	fmt.Println()
	for _, row := range scenarios {
		var cells string
		for _, kind := range sdk.Kinds {
			text := o.cells[[2]string{row.name, kind.Transport}]
			word, _, _ := strings.Cut(text, ":")
			counts[word]++
			cells += fmt.Sprintf("  %-24s", cmp.Or(text, "–")) // it is about the other transport, or not chosen
		}
		if strings.Trim(cells, " –") != "" {
			fmt.Printf("%-38s%s\n", row.name, cells)
		}
	}
	fmt.Printf("\n%d passed, %d failed, %d not supported\n", counts["passed"], counts["FAILED"], counts["not supported"])
	return true
}
