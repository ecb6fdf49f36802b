// Package smalldisk gives tests a file system that they can fill.
package smalldisk

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Mount returns the root of an empty tmpfs of size bytes, which is removed when the test
// ends. It is mounted in a namespace of its own, that of a process which waits
// meanwhile: so it needs no root rights where users may create namespaces, and nothing
// stays behind when the test is killed. Without root and without namespaces the test is
// skipped.
func Mount(t *testing.T, size int64) string {
	t.Helper()
	dir := t.TempDir()
	const script = `mount -t tmpfs -o "size=$1,mode=700" tmpfs "$2" && echo mounted && exec cat`
	holder := exec.Command("sh", "-c", script, "sh", fmt.Sprint(size), dir)
	holder.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		holder.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		holder.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		holder.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var trouble strings.Builder
	holder.Stderr = &trouble
	stdin, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Skipf("a mount namespace takes root, or user namespaces: %v", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if line != "mounted\n" {
		_ = stdin.Close()
		_ = holder.Wait()
		t.Skipf("mounting takes root, or user namespaces: %v %s", err, trouble.String())
	}
	t.Cleanup(func() {
		_ = stdin.Close() // cat ends
		if err := holder.Wait(); err != nil {
			t.Error(err)
		}
	})
	return fmt.Sprintf("/proc/%d/root%s", holder.Process.Pid, dir)
}

// Fill fills all the space that is left with a file, as fast as it can.
func Fill(t *testing.T, dir string) {
	t.Helper()
	f, err := os.OpenFile(filler(dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 1<<20); len(chunk) > 0; {
		n, err := f.Write(chunk)
		switch {
		case errors.Is(err, syscall.ENOSPC), err == nil && n < len(chunk):
			chunk = chunk[:len(chunk)/2] // to the last page
		case err != nil && !errors.Is(err, io.ErrShortWrite):
			t.Fatal(err)
		}
	}
}

// Free removes what Fill wrote.
func Free(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(filler(dir)); err != nil {
		t.Fatal(err)
	}
}

func filler(dir string) string { return filepath.Join(dir, "filler") }
