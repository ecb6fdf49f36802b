package client

import (
	"testing"
	"time"
)

func TestBackOff(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		attempt int
		asked   time.Duration
		at      float64
		want    time.Duration
	}{
		{0, 0, 0.5, 0},
		{1, 0, 0.5, 125 * ms},
		{1, 0, 0, 0},
		{2, 0, 0.5, 250 * ms},
		{3, 0, 0.5, 500 * ms},
		{7, 0, 0.5, 7500 * ms},
		{1000000, 0, 0.5, 7500 * ms},
		{0, 5 * time.Second, 0.5, 5 * time.Second},
		{3, 5 * time.Second, 0.5, 5 * time.Second},
		{3, time.Hour, 0.5, 15 * time.Second},
		{7, time.Second, 0.5, 7500 * ms},
	} {
		if got := backOff(test.attempt, 250*ms, 15*time.Second, test.asked, test.at); got != test.want {
			t.Errorf("attempt %d, asked %v, at %v: got %v, want %v", test.attempt, test.asked, test.at, got, test.want)
		}
	}
}
