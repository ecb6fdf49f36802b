package natstest

import (
	"syscall"
	"testing"
)

// Suspend stops the process without an end, as a machine that hangs; Continue lets it go on.
func (n *Node) Suspend(t testing.TB) { n.signal(t, syscall.SIGSTOP) }

// Continue takes Suspend back.
func (n *Node) Continue(t testing.TB) { n.signal(t, syscall.SIGCONT) }

func (n *Node) signal(t testing.TB, s syscall.Signal) {
	t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}
