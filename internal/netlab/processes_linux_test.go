package netlab

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// A signal reaches the processes that a browser keeps from the network, too.
func TestSignal(t *testing.T) {
	n := newNetwork(t, 1)
	cmd := n.Machine(1).Command("sh", "-c", "unshare --net sh -c 'echo $$; exec sleep 600' & wait")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it is killed already
		_ = cmd.Wait()
	}()
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	if err := n.Machine(1).Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
	if err != nil || !bytes.Contains(stat, []byte(") T ")) {
		t.Errorf("the process is %q, want it stopped; %v", stat, err)
	}
	if err := n.Machine(1).Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}
