package takeover

import "testing"

func TestInflight(t *testing.T) {
	var c inflight
	idle := func(ch <-chan struct{}) bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	}
	if !idle(c.idle()) {
		t.Error("busy from the start")
	}
	c.begin()
	c.begin()
	one, two := c.idle(), c.idle()
	c.end()
	if idle(one) || idle(two) || c.count() != 1 {
		t.Error("idle with one in flight")
	}
	c.end()
	c.begin() // it was idle in between, and that counts
	if !idle(one) || !idle(two) {
		t.Error("not everybody who waited was told")
	}
	if idle(c.idle()) {
		t.Error("idle again, with one in flight")
	}
	c.end()
}
