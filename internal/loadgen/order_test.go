package loadgen

import "testing"

func TestOrder(t *testing.T) {
	for name, tt := range map[string]struct {
		numbers                  []uint64
		late, duplicate, missing uint64
	}{
		"in order":              {[]uint64{1, 2, 3}, 0, 0, 0},
		"one lost":              {[]uint64{1, 3, 4}, 0, 0, 1},
		"the first lost":        {[]uint64{3, 4}, 0, 0, 2},
		"twice":                 {[]uint64{1, 2, 2, 3, 1}, 0, 2, 0},
		"late":                  {[]uint64{1, 3, 2, 4}, 1, 0, 0},
		"late and twice":        {[]uint64{1, 3, 2, 2, 3}, 1, 2, 0},
		"the middle of a gap":   {[]uint64{1, 5, 3}, 1, 0, 2},
		"a gap from its middle": {[]uint64{1, 5, 3, 2, 4, 3}, 3, 1, 0},
		"a gap from its ends":   {[]uint64{1, 6, 2, 5, 4, 3}, 4, 0, 0},
		"two gaps":              {[]uint64{2, 4, 3, 1, 5}, 2, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := order{next: 1}
			var late_, duplicates uint64
			for _, n := range tt.numbers {
				if n == o.next {
					o.next++
					continue
				}
				switch o.skip(n) {
				case late:
					late_++
				case duplicate:
					duplicates++
				}
			}
			missing := uint64(0)
			for _, m := range o.missing {
				missing += m.hi - m.lo
			}
			if late_ != tt.late || duplicates != tt.duplicate || missing != tt.missing {
				t.Errorf("got %d late, %d twice, %d missing; want %d, %d, %d", late_, duplicates, missing, tt.late, tt.duplicate, tt.missing)
			}
		})
	}
}

// However much is lost, the memory for it is bounded.
func TestOrderIsBounded(t *testing.T) {
	o := order{next: 1}
	for n := uint64(2); n < 10_000; n += 4 {
		o.skip(n + 2)
		o.skip(n)
	}
	if len(o.missing) > maxSpans {
		t.Errorf("%d spans, want at most %d", len(o.missing), maxSpans)
	}
}
