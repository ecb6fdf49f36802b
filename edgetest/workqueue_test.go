package edgetest_test

import (
	"testing"

	"github.com/millrace/millrace/wire"
)

// job is a confirmed publish to one connection.
func job(id uint32, delivery wire.Delivery) string {
	return string(wire.AppendPublish(nil, wire.Publish{
		Confirm: true, ID: id, Delivery: delivery, Tenant: []byte("test"), Channel: []byte("jobs.a"), Payload: []byte("x"),
	}))
}

// A publisher learns whether a worker took its message, and a worker gets what it asks for.
func TestWorkQueues(t *testing.T) {
	const features, taken = "FEATURES:link,sender,work_queue", "test/jobs.a=x [jobs.*] to one"
	for _, d := range []wire.Delivery{wire.OneNearest, wire.OneRandom} {
		everywhere(t, func(s *stage) {
			p, worker := s.publisher(), s.subscriber()
			for _, c := range []*session{p, worker} {
				c.send("FEATURES:work_queue")
				c.expect(features)
			}
			p.send(job(1, d))
			p.expect("ERR:no_subscriber:PUB:1")
			worker.ask("SUB:test:jobs.*")
			p.send(job(2, d))
			p.expect("ERR:subscribers_busy:PUB:2")
			worker.send("CREDIT:test:jobs.*:2")
			worker.untilPong()
			p.send(job(3, d), tagged(d, "jobs.a", "x"), job(4, d), publish("jobs.a", "y"))
			p.expect("OK:PUB:3", "ERR:subscribers_busy:PUB:4")
			worker.expect(taken, taken, "test/jobs.a=y [jobs.*]")
			p.quiet()
			worker.quiet()
		})
	}
}
