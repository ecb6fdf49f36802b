package client

import (
	"math/rand/v2"
	"time"
)

// backOff returns the pause before the attempt, which counts from 0: none before
// the first, then below a bound that doubles from lowest to highest. at is a
// number of [0, 1) that says how far below: clients that an edge has lost do not
// come back all at once. The pause is at least what an edge asked for, as far as
// that is below highest.
func backOff(attempt int, lowest, highest, asked time.Duration, at float64) time.Duration {
	asked = min(asked, highest)
	if attempt == 0 {
		return asked
	}
	bound := lowest
	for i := 1; i < attempt && bound < highest; i++ {
		bound *= 2
	}
	return max(asked, time.Duration(at*float64(min(bound, highest))))
}

func (s *settings) backOff(attempt int, asked time.Duration) time.Duration {
	return backOff(attempt, s.MinBackOff, s.MaxBackOff, asked, rand.Float64())
}
