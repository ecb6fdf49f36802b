package loadgen

import (
	"encoding/binary"
	"time"
)

// A payload starts with a stamp, big-endian:
//
//	| u32 run | u32 publisher | u64 number, from 1 | i64 ns when it was sent |
//
// The run tells our messages from those of others on the same channel, and the
// publisher counts within the channel.
type stamp struct {
	run, publisher uint32
	number         uint64
	sent           int64
}

func (s stamp) put(payload []byte) {
	binary.BigEndian.PutUint32(payload, s.run)
	binary.BigEndian.PutUint32(payload[4:], s.publisher)
	binary.BigEndian.PutUint64(payload[8:], s.number)
	binary.BigEndian.PutUint64(payload[16:], uint64(s.sent))
}

// readStamp needs MinPayload bytes.
func readStamp(payload []byte) stamp {
	_ = payload[MinPayload-1]
	return stamp{
		run:       binary.BigEndian.Uint32(payload),
		publisher: binary.BigEndian.Uint32(payload[4:]),
		number:    binary.BigEndian.Uint64(payload[8:]),
		sent:      int64(binary.BigEndian.Uint64(payload[16:])),
	}
}

var started = time.Now()

// nanotime is the monotonic time since the process started; never 0.
func nanotime() int64 { return int64(time.Since(started)) + 1 }
