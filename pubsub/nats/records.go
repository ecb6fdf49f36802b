package nats

import "encoding/binary"

// records are messages on their way to the connection: each u32 length of the
// subject, u32 length of the data, both. The subject may end with replySeparator
// and the subject for replies.
type records struct {
	bytes         []byte
	bytesByTenant map[string]int
	bytesByIssuer map[string]int // of publishers whose tenants share what they take
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

// add adds a record. bytes is r.bytes with the record appended, whose header is
// still empty; split is where its data begins.
func (r *records) add(bytes []byte, split int, tenant []byte, issuer string) {
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
	if issuer == "" {
		return
	}
	if r.bytesByIssuer == nil {
		r.bytesByIssuer = map[string]int{}
	}
	r.bytesByIssuer[issuer] += len(bytes) - at
}

// hasRoom reports whether a record of a size may be added to what there is, by the shares of its tenant and
// its issuer.
func (r *records) hasRoom(size, all int, tenant []byte, issuer string, limit int) bool {
	return fits(size, r.bytesByTenant[string(tenant)], all, limit) && (issuer == "" || fits(size, r.bytesByIssuer[issuer], all, limit))
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
	if len(r.bytesByIssuer) > keptTenants {
		r.bytesByIssuer = nil
	}
	clear(r.bytesByIssuer)
}

// next returns the first record, valid until reset, and those behind it.
func (r *records) next() (subject string, data []byte, rest records) {
	n, m := binary.BigEndian.Uint32(r.bytes), binary.BigEndian.Uint32(r.bytes[4:])
	b := r.bytes[recordHeader:]
	return string(b[:n]), b[n : n+m], records{bytes: b[n+m:]}
}
