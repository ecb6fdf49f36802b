package netlab

import (
	"encoding/binary"
	"time"
)

// Treatment is what happens to packets from one machine to another. The zero value is a
// network without faults.
type Treatment struct {
	Cut    bool          // nothing passes
	CutUDP bool          // nothing over UDP passes
	Loss   float64       // share of packets that get lost, from 0 to 1
	Delay  time.Duration // one way
	// MTU is the most bytes that an IP packet may have; 0: as many as the devices', 1,500.
	// The sender of a longer one is told by ICMP (RFC 1191).
	MTU int
	// Silent suppresses that ICMP: the path is a black hole.
	Silent bool
}

const (
	etherSize   = 14 // bytes of an Ethernet header
	ipSize      = 20 // bytes of an IPv4 header without options
	icmpSize    = 8
	protocolUDP = 17
)

// cuts reports whether a frame is of a kind that does not pass.
func (t Treatment) cuts(frame []byte) bool {
	return t.Cut || t.CutUDP && isIPv4(frame) && frame[etherSize+9] == protocolUDP
}

// tooBig reports whether a frame's packet is longer than the MTU of the path.
func (t Treatment) tooBig(frame []byte) bool {
	return t.MTU > 0 && isIPv4(frame) && int(binary.BigEndian.Uint16(frame[etherSize+2:])) > t.MTU
}

func isIPv4(frame []byte) bool {
	return len(frame) >= etherSize+ipSize && binary.BigEndian.Uint16(frame[12:]) == 0x0800
}

// fragmentationNeeded returns the answer of a router to a packet that is too long.
func fragmentationNeeded(frame []byte, mtu int) []byte {
	packet := frame[etherSize:]
	header := int(packet[0]&0xf) * 4
	quoted := packet[:min(header+8, len(packet))]
	size := ipSize + icmpSize + len(quoted)
	answer := make([]byte, etherSize+size)
	copy(answer, frame[6:12])
	copy(answer[6:], frame[:6])
	copy(answer[12:], frame[12:14])
	ipv4 := answer[etherSize:]
	ipv4[0], ipv4[8], ipv4[9] = 0x45, 64, 1 // no options; hops; ICMP
	binary.BigEndian.PutUint16(ipv4[2:], uint16(size))
	copy(ipv4[12:16], packet[16:20]) // as if from its destination
	copy(ipv4[16:20], packet[12:16])
	binary.BigEndian.PutUint16(ipv4[10:], checksum(ipv4[:ipSize]))
	icmp := ipv4[ipSize:]
	icmp[0], icmp[1] = 3, 4 // destination unreachable: fragmentation needed
	binary.BigEndian.PutUint16(icmp[6:], uint16(mtu))
	copy(icmp[icmpSize:], quoted)
	binary.BigEndian.PutUint16(icmp[2:], checksum(icmp))
	return answer
}

// checksum returns the Internet checksum of RFC 1071.
func checksum(data []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(data); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(data[i:]))
	}
	if len(data)%2 == 1 {
		sum += uint32(data[len(data)-1]) << 8
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}
