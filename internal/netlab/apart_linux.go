package netlab

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// apartEnv is set in a program that runs in a namespace of its own.
const apartEnv = "NETLAB_APART"

// Apart runs this program again, with the same arguments, in a network namespace that has
// only its own loopback, and returns the exit code of that run. A program calls it first:
// the devices that networks add to the machine are a change of the network to every
// browser there, which then ends its connections. env is added to the environment.
//
// In the second run it returns at once, with again false; so it does where namespaces are
// not possible.
func Apart(env ...string) (code int, again bool, err error) {
	if os.Getenv(apartEnv) != "" {
		return 0, false, ip("link", "set", "lo", "up")
	}
	if Possible() != nil {
		return 0, false, nil
	}
	runtime.LockOSThread() // the program would be killed with the thread that started it
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(append(os.Environ(), env...), apartEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, false, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
	ended := make(chan struct{})
	passed := make(chan struct{})
	go func() { // ends with the program
		defer close(passed)
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // it may have ended
			case <-ended:
				return
			}
		}
	}()
	err = cmd.Wait()
	close(ended)
	<-passed
	signal.Stop(signals)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return max(1, exit.ExitCode()), true, nil // -1: by a signal
	}
	return 0, true, err
}
