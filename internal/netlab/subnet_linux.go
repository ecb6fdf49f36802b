package netlab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// subnet is 10.77.<number>.0/24, which belongs to one network as long as that holds the
// lock of a file.
type subnet struct {
	number int
	lock   *os.File

	mu   sync.Mutex
	last int // address given by next
}

const (
	subnets       = 256
	firstReserved = 100 // addresses from here on are for next
)

// takeSubnet takes a free subnet, and removes what killed runs have left behind.
func takeSubnet() (*subnet, error) {
	var taken *subnet
	left := leftNamespaces()
	for i := range subnets {
		number := (os.Getpid() + i) % subnets
		if taken != nil && len(left[number]) == 0 {
			continue
		}
		lock, err := os.OpenFile(fmt.Sprintf("/run/netlab-%d.lock", number), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, errors.Join(err, taken.close())
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil { // another network has it
			_ = lock.Close()
			continue
		}
		for _, name := range left[number] {
			_ = removeNamespace(name) // another one may be doing so
		}
		if taken == nil {
			taken = &subnet{number: number, lock: lock, last: firstReserved}
		} else {
			_ = lock.Close()
		}
	}
	if taken == nil {
		return nil, errors.New("all subnets are taken")
	}
	return taken, nil
}

const prefix = "netlab-"

// leftNamespaces returns the namespaces of all networks, by subnet; some are still in use.
func leftNamespaces() map[int][]string {
	byNumber := map[int][]string{}
	files, _ := filepath.Glob("/run/netns/" + prefix + "*")
	for _, file := range files {
		var pid, number, machine int
		name := filepath.Base(file)
		if _, err := fmt.Sscanf(strings.TrimPrefix(name, prefix), "%d-%d-%d", &pid, &number, &machine); err == nil {
			byNumber[number] = append(byNumber[number], name)
		}
	}
	return byNumber
}

func (s *subnet) address(machine int) string { return fmt.Sprintf("10.77.%d.%d", s.number, machine) }

// namespace is the name of a machine's.
func (s *subnet) namespace(machine int) string {
	return fmt.Sprintf("%s%d-%d-%d", prefix, os.Getpid(), s.number, machine)
}

// device is the name of the device in this process's namespace.
func (s *subnet) device() string { return fmt.Sprintf("netlab%d", s.number) }

// next is an address that no machine has had.
func (s *subnet) next() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last >= 253 {
		s.last = firstReserved // 150 changes later
	}
	s.last++
	return s.address(s.last), nil
}

func (s *subnet) close() error {
	if s == nil {
		return nil
	}
	return s.lock.Close()
}
