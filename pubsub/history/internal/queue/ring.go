package queue

// ring is a queue that needs no memory while it does not grow. The zero value is empty.
type ring[T any] struct {
	buffer   []T
	first, n int
}

func (r *ring[T]) push(v T) {
	if r.n == len(r.buffer) {
		larger := make([]T, max(4, 2*r.n))
		copy(larger[copy(larger, r.buffer[r.first:]):], r.buffer[:r.first])
		r.buffer, r.first = larger, 0
	}
	r.buffer[(r.first+r.n)%len(r.buffer)] = v
	r.n++
}

// front returns the first one, until pop takes it out. There is one.
func (r *ring[T]) front() *T { return &r.buffer[r.first] }

// pop takes the first one out. There is one.
func (r *ring[T]) pop() (v T) {
	var none T
	v, r.buffer[r.first] = r.buffer[r.first], none
	r.first = (r.first + 1) % len(r.buffer)
	r.n--
	return v
}
