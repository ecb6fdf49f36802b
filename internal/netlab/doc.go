// Package netlab is a network for tests: machines, each in a network namespace of its
// own, and a switch in this process between them that loses packets, delays them, drops
// some kinds of them and lowers the path's MTU. It needs root and /dev/net/tun; it does
// not need netem, which not every kernel has.
//
//	n, err := netlab.New(2)
//	cmd := n.Machine(1).Command("program")     // runs inside
//	n.Set(1, 2, netlab.Treatment{Loss: 0.05})  // both ways
//	err = n.Close()                            // when the processes have ended
//
// Machine 0 is this process's own namespace, which reaches all others.
//
// A network belongs to its caller. What killed runs have left behind is removed by the next
// run that makes a network.
package netlab
