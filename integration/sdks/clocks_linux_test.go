package sdks

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// A backend and a client whose clock is wrong get tokens and keep their connection, as if it
// were right; a refusal of a point in time has both clocks. libfaketime shifts them. Programs in
// Go ask the kernel without it: client's TestTokenProvider and TestTokenAdminRelative show that its
// SDK reads no clock.
func TestClocks(t *testing.T) {
	t.Parallel()
	libraries, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	if err != nil || len(libraries) == 0 {
		t.Fatal("libfaketime is missing: run scripts/install-test-deps.sh")
	}
	e := harness.StartEdge(t, harness.DefaultCaddyfile)
	for _, program := range [][]string{{"node", "clients/clock.mjs"}, {"clients/.venv/bin/python", "clients/clock.py"}} {
		for _, shift := range []int{-25, 6, 29} {
			t.Run(fmt.Sprint(filepath.Base(program[0]), " ", shift), func(t *testing.T) {
				t.Parallel()
				cmd := exec.CommandContext(t.Context(), program[0], program[1:]...)
				cmd.Env = append(os.Environ(), "LD_PRELOAD="+libraries[0], fmt.Sprintf("FAKETIME=%+ds", shift),
					"FAKETIME_DONT_FAKE_MONOTONIC=1", "EDGE="+e.HttpURL(""), "MILLRACE_MASTER_TOKEN="+e.Master)
				cmd.Stderr = os.Stderr
				out, err := cmd.Output()
				if err != nil {
					t.Fatal(err)
				}
				var got struct {
					Clamped     []any
					Refusal     string
					Asked, Lost int
					Now         float64
				}
				if err := json.Unmarshal(out, &got); err != nil {
					t.Fatal(err)
				}
				if off := int(got.Now/1000-float64(time.Now().UnixMilli())/1000) - shift; off < -10 || off > 10 {
					t.Fatalf("the clock is %d s from where it should be: is it shifted?", off)
				}
				if fmt.Sprint(got.Clamped) != "[false true 86400 86400]" {
					t.Errorf("lifetimes: %v", got.Clamped)
				}
				// Of 7 s, one is renewed after 1.3 to 2 s, and a busy machine takes longer.
				if got.Lost > 0 || got.Asked < 3 || got.Asked > 8 {
					t.Errorf("lost %d connections and asked for %d tokens, of 7 s in 9 s", got.Lost, got.Asked)
				}
				clocks := regexp.MustCompile(`it is 20\S+T\d\d:\d\d:(\d\d)Z at this edge.*here it is 20\S+T\d\d:\d\d:(\d\d)`).FindStringSubmatch(got.Refusal)
				if clocks == nil {
					t.Fatalf("refused with %q", got.Refusal)
				}
				edge, _ := strconv.Atoi(clocks[1])
				here, _ := strconv.Atoi(clocks[2])
				if apart := (here - edge - shift + 120) % 60; apart > 5 && apart < 55 {
					t.Errorf("the clocks are not %d s apart: %q", shift, got.Refusal)
				}
			})
		}
	}
}
