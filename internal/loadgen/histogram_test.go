package loadgen

import "testing"

func TestHistogram(t *testing.T) {
	var (
		h   histogram
		sum summary
	)
	for ns := int64(1000); ns <= 100_000_000; ns += 1000 {
		h.record(ns)
	}
	sum.add(&h)
	sum.add(&h)
	if sum.total != 200_000 || sum.max != 100_000_000 {
		t.Errorf("got %d times up to %d ns", sum.total, sum.max)
	}
	for q, want := range map[float64]float64{0.01: 1000, 0.5: 50_000, 0.9: 90_000, 0.99: 99_000, 0.999: 99_900} {
		if got := sum.quantile(q); got < want*0.984 || got > want*1.016 {
			t.Errorf("quantile %v is %v µs, want %v", q, got, want)
		}
	}
	if got := new(summary).quantile(0.5); got != 0 {
		t.Errorf("of nothing the median is %v", got)
	}
}

// Every time has a bucket whose middle is near it, and later times have no
// earlier ones.
func TestHistogramBuckets(t *testing.T) {
	last := 0
	for ns := int64(1); ns > 0 && ns < 1<<42; ns += ns/100 + 1 {
		i := bucketOf(ns)
		if i < last || i >= buckets {
			t.Fatalf("%d ns is put in bucket %d, after %d", ns, i, last)
		}
		last = i
		if off := bucketMiddle(i) - ns; max(off, -off) > ns/62+resolution/2 {
			t.Fatalf("%d ns is in a bucket around %d ns", ns, bucketMiddle(i))
		}
	}
	for _, ns := range []int64{-5, 0, 1<<63 - 1} {
		if i := bucketOf(ns); i < 0 || i >= buckets {
			t.Errorf("%d ns is put in bucket %d", ns, i)
		}
	}
}
