package netlab

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Machine is a machine of a network, as it was when [Network.Machine] was called.
type Machine struct {
	IP        string
	Namespace string // empty: this process's own

	number int
	device string
}

// Possible returns why there can be no network here, or nil if there can.
// It may be called concurrently.
var Possible = sync.OnceValue(func() error {
	if os.Geteuid() != 0 {
		return errors.New("network namespaces take root")
	}
	tun, err := os.OpenFile("/dev/net/tun", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_ = tun.Close()
	probe := fmt.Sprintf("netlabprobe%d", os.Getpid())
	if err := ip("netns", "add", probe); err != nil {
		return err
	}
	return ip("netns", "del", probe)
})

// Command is a process inside the machine. It is killed when the thread that started it ends:
// with the program, if no goroutine ends that has locked its thread.
func (m Machine) Command(name string, args ...string) *exec.Cmd {
	if m.Namespace != "" {
		args = append([]string{"netns", "exec", m.Namespace, name}, args...)
		name = "ip" // which becomes the program: the process is the same
	}
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd
}

// SetFile writes a file of /etc, such as resolv.conf or hosts, that the processes of the machine
// have in place of this one's. One that is new is seen by processes that start later.
func (m Machine) SetFile(name, text string) error {
	if m.Namespace == "" {
		return errors.New("that would be the file of this process")
	}
	dir := filesOf(m.Namespace)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
}

// filesOf is where ip netns exec looks for files of /etc (ip-netns(8)).
func filesOf(ns string) string { return "/etc/netns/" + ns }

// SetMTU sets the MTU of the machine's device, as that of a tunnel, in bytes.
func (m Machine) SetMTU(mtu int) error {
	return m.ip("link", "set", m.device, "mtu", strconv.Itoa(mtu))
}

// AddIPv6 gives the machine a second address.
func (m Machine) AddIPv6(address string) error {
	return m.ip("addr", "add", address+"/64", "dev", m.device, "nodad")
}

// ip runs the command ip for the machine.
func (m Machine) ip(args ...string) error {
	if m.Namespace != "" {
		args = append([]string{"-n", m.Namespace}, args...)
	}
	return ip(args...)
}

func ip(args ...string) error {
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %v: %w: %s", args, err, out)
	}
	return nil
}

// openTAP makes a device in a namespace.
func openTAP(ns, name string) (file *os.File, err error) {
	err = inside(ns, func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		request, err := unix.NewIfreq(name)
		if err == nil {
			request.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI)
			err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
		}
		if err != nil {
			_ = unix.Close(fd)
			return err
		}
		file = os.NewFile(uintptr(fd), name)
		return nil
	})
	return file, err
}

// inside calls a function on a thread that is in a namespace during the call; if ns is
// empty, on any thread. The thread lives on, since the processes that it started would end
// with it, see Command.
func inside(ns string, f func() error) (err error) {
	if ns == "" {
		return f()
	}
	runtime.LockOSThread()
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer own.Close()
	if err := enter(ns); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer func() {
		if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back != nil {
			panic(fmt.Sprintf("a thread cannot leave the namespace %s: %v", ns, back))
		}
		runtime.UnlockOSThread()
	}()
	return f()
}

// enter moves the calling thread into a namespace.
func enter(ns string) error {
	file, err := os.Open("/run/netns/" + ns)
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
}
