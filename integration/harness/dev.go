package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/millrace/millrace/internal/loopback"
)

// DevEdge is `pubsub dev`, started in an empty home.
type DevEdge struct {
	*Background
	Home, Dir string
	Flags     []string
	Env       []string
	Ports     [3]int // HTTPS, HTTP, admin
}

func NewDevEdge(t *testing.T) *DevEdge {
	t.Helper()
	home := t.TempDir()
	d := &DevEdge{
		Home: home, Dir: filepath.Join(t.TempDir(), "data of the edge"),
		Env:   []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.Getenv("TMPDIR")},
		Ports: [3]int{loopback.FreePort(t), loopback.FreePort(t), loopback.FreePort(t)},
	}
	d.Flags = []string{
		"pubsub", "dev", "--dir", d.Dir, "--https-port", fmt.Sprint(d.Ports[0]), "--http-port", fmt.Sprint(d.Ports[1]),
		"--admin", fmt.Sprintf("localhost:%d", d.Ports[2]),
	}
	return d
}

func (d *DevEdge) Command(flags ...string) *exec.Cmd {
	cmd := exec.Command(Program, append(d.Flags, flags...)...)
	cmd.Dir, cmd.Env = d.Home, d.Env
	return cmd
}

// Start returns when the tour is printed.
func (d *DevEdge) Start(t *testing.T) {
	t.Helper()
	d.Background = StartBackground(t, d.Command())
	d.Await(d.Out, "Ctrl+C stops the edge.\n")
}

func (d *DevEdge) Stop(t *testing.T, s syscall.Signal) {
	t.Helper()
	d.Signal(s)
	if code := d.ExitCode(); code != 0 {
		t.Errorf("after %v: exit code %d; stderr:\n%s", s, code, d.Err)
	}
}

var AccessToken = regexp.MustCompile(`AT_([0-9a-f]{32})_[0-9a-f]{32}`)
