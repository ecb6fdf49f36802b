package wire

// Reader takes fields off the front of bytes. Once one is short, so are all that follow:
// these are empty, or 0.
type Reader struct {
	b     []byte
	short bool
}

// NewReader returns a Reader of b. The fields that it returns alias b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Len returns how many bytes are left.
func (r *Reader) Len() int { return len(r.b) }

// Short reports whether a field was not there as a whole.
func (r *Reader) Short() bool { return r.short }

// Take takes n bytes.
func (r *Reader) Take(n int) []byte {
	if r.short = r.short || len(r.b) < n; r.short {
		r.b = nil
		return nil
	}
	field := r.b[:n:n]
	r.b = r.b[n:]
	return field
}

// Number takes a big-endian number of up to 8 bytes.
func (r *Reader) Number(size int) (n uint64) {
	for _, c := range r.Take(size) {
		n = n<<8 | uint64(c)
	}
	return n
}

// Field16 takes a field behind its u16 length.
func (r *Reader) Field16() []byte { return r.Take(int(r.Number(2))) }
