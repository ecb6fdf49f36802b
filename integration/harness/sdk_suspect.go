package harness

import (
	"syscall"
)

func (e *Edge) Signal(s syscall.Signal) {
	select {
	case <-e.Exited:
	default:
		if err := e.Cmd.Process.Signal(s); err != nil {
			e.T.Errorf("%v to the edge: %v", s, err)
		}
	}
}
