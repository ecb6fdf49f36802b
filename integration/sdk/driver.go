package sdk

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/capture"
	"github.com/millrace/millrace/internal/clientdriver"
)

// Driver is a driver that runs.
type Driver struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stderr capture.Output
	done   chan struct{} // closed when the program has ended
	hello  chan Report
	report func(Report) error // takes a report, or says what is wrong with it
	failed func(error)        // called once, when the driver fails

	mu     sync.Mutex
	err    error // why it failed
	ending bool
}

// StartDriver runs a driver. It returns when it has said hello, within some time.
func StartDriver(
	cmd *exec.Cmd, roots string, within time.Duration, report func(Report) error, failed func(error),
) (*Driver, Report, error) {
	d := &Driver{cmd: cmd, done: make(chan struct{}), hello: make(chan Report, 1), report: report, failed: failed}
	cmd.Env = append(os.Environ(), clientdriver.RootsVariable+"="+roots, clientdriver.NodeRootsVariable+"="+roots, "DENO_CERT="+roots)
	cmd.Stderr = io.MultiWriter(os.Stderr, &d.stderr)
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		d.stdin, err = cmd.StdinPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, Report{}, err
	}
	go d.follow(stdout) // ends with the program, which End ends
	timeout := time.NewTimer(within)
	defer timeout.Stop()
	select {
	case hello := <-d.hello:
		return d, hello, nil
	case <-d.done:
	case <-timeout.C:
		d.fail(fmt.Errorf("the driver said nothing for %v, not even hello", within))
	}
	return nil, Report{}, d.End()
}

// follow reads what the program says until it ends.
func (d *Driver) follow(stdout io.Reader) {
	defer close(d.done)
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	err := error(nil)
	for n := 1; err == nil && lines.Scan(); n++ {
		if err = d.take(n, lines.Bytes()); err != nil {
			d.fail(fmt.Errorf("line %d of the driver's output is no report: %w: %s", n, err, Short(lines.Text())))
		}
	}
	if err := lines.Err(); err != nil {
		d.fail(fmt.Errorf("the driver's output: %w", err))
	}
	_, _ = io.Copy(io.Discard, stdout) // for a program that goes on
	err = d.cmd.Wait()
	d.mu.Lock()
	ending := d.ending
	d.mu.Unlock()
	switch {
	case err != nil:
		d.fail(fmt.Errorf("the driver ended with %w", err))
	case !ending:
		d.fail(errors.New("the driver ended before its input did"))
	}
}

func (d *Driver) take(n int, line []byte) error {
	r, err := clientdriver.ParseReport(line)
	switch {
	case err != nil:
		return err
	case (n == 1) != (r.Event == "hello"):
		return errors.New("hello is the first line, and no other")
	case n == 1:
		d.hello <- r
		return nil
	}
	return d.report(r)
}

func (d *Driver) fail(err error) {
	said := strings.TrimSpace(d.stderr.String())
	if said != "" {
		err = fmt.Errorf("%w; its stderr ends with: %s", err, said[max(0, len(said)-2000):])
	}
	d.mu.Lock()
	first := d.err == nil
	d.err = cmp.Or(d.err, err)
	d.mu.Unlock()
	if first {
		_ = d.stdin.Close() // there is nothing more to say to it
		d.failed(err)
	}
}

func (d *Driver) Send(command Command) error {
	d.mu.Lock()
	err := d.err
	d.mu.Unlock()
	if err != nil {
		return err
	}
	line, err := json.Marshal(command)
	if err != nil {
		return err
	}
	if in, ok := d.stdin.(interface{ SetWriteDeadline(time.Time) error }); ok { // as a pipe has
		_ = in.SetWriteDeadline(time.Now().Add(Limit)) // else the next write says why
	}
	if _, err := d.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the driver takes no command: %w", err)
	}
	return nil
}

// End ends the program, and returns why it failed, if it did.
func (d *Driver) End() error {
	d.mu.Lock()
	d.ending = true
	d.mu.Unlock()
	_ = d.stdin.Close() // the program then ends by itself
	kill := time.AfterFunc(Limit, func() {
		d.fail(fmt.Errorf("the driver did not end within %v of its input", Limit))
		_ = d.cmd.Process.Kill() // it may just have ended
	})
	defer kill.Stop()
	<-d.done
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
