package client

import (
	"testing"
	"time"

	"github.com/millrace/millrace/wire"
)

func TestSendBufferFinished(t *testing.T) {
	o := newSendBuffer(time.Now)
	o.finish()
	if _, _, ok := o.publish(wire.Publish{Tenant: []byte("t"), Channel: []byte("x")}); ok {
		t.Error("takes what nobody sends")
	}
	if waiting, more := o.take(); len(waiting) > 0 || more {
		t.Errorf("%q waits, or more may come", waiting)
	}
}
