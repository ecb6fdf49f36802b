package integration

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/smalldisk"
	"github.com/millrace/millrace/wire"
)

// An edge whose embedded NATS server has a full disk says so, goes on with the tokens
// of the other two, and has its part again when there is room: then one of those may
// fail.
func TestFullDiskOfNATS(t *testing.T) {
	t.Parallel()
	o := &overlay{t: t}
	text, _, secret := guideThree(t)
	disk := smalldisk.Mount(t, 160<<20)
	o.startAt(text(0), secret)
	o.startAt(text(1), secret)
	o.startAt(replaced(t, text(2), "embedded {", "embedded {\n\t\t\t\tdir "+disk, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n"), secret,
		foreignRace("restartJetStream")) // nats-server 2.15.2: what it sets anew is read meanwhile
	o.works()
	third := o.edges[2]
	third.expectMetrics(samples{"millrace_embedded_storage_up": 1})

	smalldisk.Fill(t, disk)
	third.poll("the full disk to be noticed", func() bool {
		o.awaitToken(0)
		return third.metrics()["millrace_embedded_storage_up"] == 0
	})
	ready := func() string { return string(third.rest("GET", "/ready", "", nil).Body) }
	if got := ready(); got != "ready\nthe embedded NATS server stores no tokens" {
		t.Errorf("readiness is %q", got)
	}
	o.works() // at the third edge, too: it asks the others
	third.expectMetrics(samples{`millrace_broker_up{broker=nats}`: 1})
	o.edges[0].expectMetrics(samples{`millrace_token_store_replicas{state=behind}`: 1})
	if !strings.Contains(third.output(), "the embedded NATS server has stopped storing tokens") {
		t.Error("the edge's log does not say so")
	}

	smalldisk.Free(t, disk)
	third.expectMetrics(samples{"millrace_embedded_storage_up": 1})
	o.edges[0].expectMetrics(samples{`millrace_token_store_replicas{state=current}`: 3})
	o.edges[1].kill()
	o.token = o.awaitToken(0)
	s := o.session(2)
	o.edges[0].revoke(o.edges[0].master, o.token).decode(t, http.StatusOK, new(object))
	s.expectText("ERR:" + string(wire.CodeTokenRevoked))
	s.expectClose(wire.CloseForbidden)
}
