package loadgen

import "math/bits"

// A histogram counts times in 32 buckets for every power of two, which makes
// quantiles right to 1.6 %. Its memory is fixed and small, since every
// subscriber has one, which only its own goroutine uses. The zero value is
// empty.
type histogram struct {
	counts [buckets]uint32
	max    int64 // ns
}

const (
	resolution = 128 // ns; all below count as one
	subBuckets = 32
	octaves    = 32 // up to 1<<31 × 32 × resolution ns, and so for ever
	buckets    = octaves * subBuckets
)

// bucketOf returns the bucket of a time in ns.
func bucketOf(ns int64) int {
	v := uint64(max(ns, 0)) / resolution
	if v < subBuckets {
		return int(v)
	}
	shift := bits.Len64(v) - 6 // leaves 6 bits, the highest of which is set
	return min((shift+1)*subBuckets+int(v>>shift)-subBuckets, buckets-1)
}

// bucketMiddle is the time in the middle of bucket i, ns.
func bucketMiddle(i int) int64 {
	if i < subBuckets {
		return int64(i)*resolution + resolution/2
	}
	shift := i/subBuckets - 1
	return (int64(i%subBuckets+subBuckets)<<shift)*resolution + int64(resolution)<<shift/2
}

func (h *histogram) record(ns int64) {
	h.counts[bucketOf(ns)]++
	h.max = max(h.max, ns)
}

// A summary adds up histograms.
type summary struct {
	counts [buckets]uint64
	total  uint64
	max    int64 // ns
}

func (s *summary) add(h *histogram) {
	for i, n := range h.counts {
		s.counts[i] += uint64(n)
		s.total += uint64(n)
	}
	s.max = max(s.max, h.max)
}

// quantile returns the time below which the share q of all lies, in µs; 0 if
// there is none.
func (s *summary) quantile(q float64) float64 {
	rank := uint64(q * float64(s.total))
	var seen uint64
	for i, n := range s.counts {
		if seen += n; seen > rank {
			return float64(min(bucketMiddle(i), s.max)) / 1e3
		}
	}
	return float64(s.max) / 1e3
}
