package natstest

import (
	"os"
	"syscall"
	"testing"
)

// Stop ends the process as an operator does, and waits until it has ended.
func (n *Node) Stop(t testing.TB) {
	t.Helper()
	n.signal(t, syscall.SIGTERM)
	<-n.exited
}

// Save copies what a node of [Processes] has stored to a folder. The node does not run.
func (n *Node) Save(t testing.TB, to string) {
	t.Helper()
	replaceFolder(t, n.store, to)
}

// PutBack puts what Save has copied in the place of what the node has. It does not run.
func (n *Node) PutBack(t testing.TB, from string) {
	t.Helper()
	replaceFolder(t, from, n.store)
}

func replaceFolder(t testing.TB, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
