package cluster

import (
	"fmt"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/wire"
)

// Workers at two edges take jobs that are published at a third one, as many as they have asked for, and
// the publisher learns what became of each.
func TestWorkQueues(t *testing.T) {
	t.Parallel()
	join := harness.Joining(harness.StartNATS(t, 1), "")[0]
	o := &harness.Overlay{T: t}
	o.StartEdges(harness.DefaultCaddyfile, []harness.Option{join, join, join})
	o.Token = o.Edges[0].Issue(harness.AllowAll("room")).Token
	var open []*harness.Socket
	for at := range o.Edges {
		s := o.Session(at)
		s.SendLine("FEATURES:" + wire.FeatureWorkQueue)
		s.ExpectText("FEATURES:link,sender,work_queue")
		open = append(open, s)
	}
	p, workers := open[0], open[1:]
	const tenant, channel = "paint.room", "jobs.a"
	id := uint32(0)
	job := func(d wire.Delivery) string {
		t.Helper()
		id++
		p.SendFrame(wire.AppendPublish(nil, wire.Publish{
			Confirm: true, ID: id, Delivery: d, Tenant: []byte(tenant), Channel: []byte(channel), Payload: fmt.Append(nil, id),
		}))
		_, answer, err := p.Read()
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	all := func(code wire.Code) {
		t.Helper()
		for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
			if got, want := job(d), string(wire.AppendErrPub(nil, code, id)); got != want {
				t.Errorf("%v: got %s, want %s", d, got, want)
			}
		}
	}
	all(wire.CodeNoSubscriber)
	for _, w := range workers {
		w.Subscribe(tenant, "jobs.*")
	}
	// A subscription becomes known at the other edges a moment later.
	o.Edges[0].Poll("the workers to be known", func() bool {
		return job(wire.OneNearest) == string(wire.AppendErrPub(nil, wire.CodeSubscribersBusy, id))
	})
	all(wire.CodeSubscribersBusy)
	for i, w := range []*harness.Socket{workers[0], workers[1], workers[0]} {
		w.SendLine(fmt.Sprintf("CREDIT:%s:jobs.*:2", tenant))
		w.Ping()
		for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
			if got, want := job(d), string(wire.AppendOKPub(nil, id)); got != want {
				t.Errorf("worker %d, %v: got %s, want %s", i, d, got, want)
			}
			w.ExpectDeliver(tenant, channel, fmt.Sprint(id), "jobs.*")
		}
		all(wire.CodeSubscribersBusy)
	}
	workers[0].Fence()
	workers[1].Fence()
	for _, s := range open {
		s.Close()
	}
}
