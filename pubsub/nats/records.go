package nats

import "encoding/binary"

// records are messages on their way to the connection: each u32 length of the
// subject, u32 length of the data, both. The subject may end with replySeparator
// and the subject for replies.
type records struct {
	bytes         []byte
	bytesByTenant map[string]int
}

const (
	recordHeader   = 8
	replySeparator = " "
)

// What reset keeps for the next records: memory for so many bytes and tenants.
const (
	keptBytes   = 1 << 20
	keptTenants = 1 << 10
)

// add adds a record. bytes is r.bytes with the record appended, of which the header is
// still empty; split is where its data begins.
func (r *records) add(bytes []byte, split int, tenant []byte) {
	at := len(r.bytes)
	binary.BigEndian.PutUint32(bytes[at:], uint32(split-at-recordHeader))
	binary.BigEndian.PutUint32(bytes[at+4:], uint32(len(bytes)-split))
	r.bytes = bytes
	if len(tenant) == 0 {
		return
	}
	if r.bytesByTenant == nil {
		r.bytesByTenant = map[string]int{}
	}
	r.bytesByTenant[string(tenant)] += len(bytes) - at
}

func (r *records) reset() {
	r.bytes = r.bytes[:0]
	if cap(r.bytes) > keptBytes {
		r.bytes = nil
	}
	if len(r.bytesByTenant) > keptTenants {
		r.bytesByTenant = nil
	}
	clear(r.bytesByTenant)
}

// next returns the first record, valid until reset, and those behind it.
func (r *records) next() (subject string, data []byte, rest records) {
	n, m := binary.BigEndian.Uint32(r.bytes), binary.BigEndian.Uint32(r.bytes[4:])
	b := r.bytes[recordHeader:]
	return string(b[:n]), b[n : n+m], records{bytes: b[n+m:]}
}
