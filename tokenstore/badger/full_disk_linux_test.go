package badger

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/millrace/millrace/internal/smalldisk"
)

// diskWriter is such a process.
type diskWriter struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan []string
	known map[string]uint64 // acknowledged, by id: version
	have  map[string]uint64
}

func startDiskWriter(t *testing.T, dir string, known map[string]uint64) *diskWriter {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	w := &diskWriter{t: t, cmd: cmd, stdin: stdin, lines: make(chan []string), known: known, have: map[string]uint64{}}
	go func() { // ends with the process
		defer close(w.lines)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			w.lines <- strings.Fields(lines.Text())
		}
	}()
	return w
}

// next takes a line, and reports whether there was one.
func (w *diskWriter) next() (line []string, ok bool) {
	line, ok = <-w.lines
	if !ok {
		return nil, false
	}
	switch line[0] {
	case "ack", "have":
		version, err := strconv.ParseUint(line[2], 10, 64)
		must(w.t, err)
		if line[0] == "ack" {
			w.known[line[1]] = version
		} else {
			w.have[line[1]] = version
		}
	case "deleted":
		delete(w.known, line[1])
	}
	return line, true
}

// await takes lines until n have begun with a word.
func (w *diskWriter) await(word string, n int) {
	w.t.Helper()
	for n > 0 {
		line, ok := w.next()
		if !ok {
			w.t.Fatalf("the process has ended: %v", w.cmd.Wait())
		}
		if line[0] == word {
			n--
		}
	}
}

// awaitWhile is await, beside something that is done meanwhile.
func (w *diskWriter) awaitWhile(word string, n int, do func()) {
	w.t.Helper()
	var wg sync.WaitGroup
	wg.Go(do)
	w.await(word, n)
	wg.Wait()
}

// finish ends the process and compares what it has with what is known.
func (w *diskWriter) finish() {
	w.t.Helper()
	must(w.t, w.stdin.Close())
	for ok := true; ok; _, ok = w.next() {
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Fatalf("the process: %v", err)
	}
	for id, version := range w.known {
		if w.have[id] != version {
			w.t.Errorf("%s has version %d, acknowledged was %d", id, w.have[id], version)
		}
	}
}

// kill ends the process as a crash would. What it wrote before counts.
func (w *diskWriter) kill() {
	w.t.Helper()
	must(w.t, w.cmd.Process.Kill())
	for ok := true; ok; _, ok = w.next() {
	}
	var exit *exec.ExitError
	if err := w.cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		w.t.Fatalf("the process was not killed: %v", err)
	}
}

// TestFullDisk fills the disk under a store that is written to, again and again,
// and stops, kills and starts it while the disk is full. No write that was
// acknowledged is lost, reads go on, and writes do when there is room.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	rounds := 1 // each takes seconds, in which the store looks for room and grows
	if os.Getenv("MILLRACE_SOAK") != "" {
		rounds = 20
	}
	disk := smalldisk.Mount(t, 448<<20)
	dir := filepath.Join(disk, "tokens")
	known := map[string]uint64{}
	fill := func() { smalldisk.Fill(t, disk) }

	w := startDiskWriter(t, dir, known)
	for range rounds {
		w.await("ack", 1000) // some logs are full by then, and have become tables
		w.awaitWhile("refused", 20, fill)
		smalldisk.Free(t, disk)
	}
	w.await("ack", 100)
	w.awaitWhile("refused", 1, fill)
	w.finish() // what was written last stays in the log

	w = startDiskWriter(t, dir, known) // on a full disk
	w.await("refused", 20)
	smalldisk.Free(t, disk)
	w.await("ack", 100)
	w.awaitWhile("refused", 1, fill)
	w.kill() // the log ends anywhere

	w = startDiskWriter(t, dir, known)
	w.await("refused", 20)
	w.finish() // without ever having written

	smalldisk.Free(t, disk)
	w = startDiskWriter(t, dir, known)
	w.await("ack", 100)
	w.finish()

	fill()
	w = startDiskWriter(t, filepath.Join(disk, "new"), map[string]uint64{})
	w.await("refused", 1)
	smalldisk.Free(t, disk)
	w.await("ack", 1)
	w.finish()
}
