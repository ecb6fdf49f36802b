// Package netlab is a network for tests: machines, each in a network namespace of its
// own, and a switch in this process between them that loses packets, delays them, drops
// some kinds of them and lets the path's MTU fall. It takes root and /dev/net/tun; it
// takes no netem, which not every kernel has.
//
//	n, err := netlab.New(2)
//	cmd := n.Machine(1).Command("program")     // runs inside
//	n.Set(1, 2, netlab.Treatment{Loss: 0.05})  // both ways
//	err = n.Close()                            // when the processes have ended
//
// Machine 0 is this process's own namespace, which reaches all others.
//
// A network belongs to who made it. What runs that were killed have left behind is removed by the next
// one that makes a network.
package netlab
