package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Flooder is a client that sends a cycle of messages again and again.
type Flooder struct {
	Conn interface {
		io.Writer
		SetDeadline(time.Time) error
		SetWriteDeadline(time.Time) error
	}
	Cycle []byte
	Asks  int          // answers to a cycle
	Skip  func() error // reads one answer
	Sent  int          // bytes
}

// Flood sends until the edge stops reading.
func (f *Flooder) Flood() error {
	const (
		enough = 96 << 20 // far more than all buffers between client and edge hold
		stall  = 1500 * time.Millisecond
	)
	chunk := bytes.Repeat(f.Cycle, 64)
	for f.Sent < enough {
		if err := f.Conn.SetWriteDeadline(time.Now().Add(stall)); err != nil {
			return err
		}
		n, err := f.Conn.Write(chunk[f.Sent%len(f.Cycle):])
		f.Sent += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d MiB: %w", f.Sent>>20, err)
		}
	}
	return fmt.Errorf("the edge took %d MiB from a client that never reads", f.Sent>>20)
}
