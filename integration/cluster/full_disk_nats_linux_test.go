package cluster

import (
	"net/http"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/smalldisk"
	"github.com/millrace/millrace/wire"
)

// An edge whose embedded NATS server has a full disk says so, goes on with the tokens
// of the other two, and has its part again when there is room: then one of those may
// fail.
func TestFullDiskOfNATS(t *testing.T) {
	t.Parallel()
	o := &harness.Overlay{T: t}
	text, _, secret := guideThree(t)
	disk := smalldisk.Mount(t, 160<<20)
	startAt(o, text(0), secret)
	startAt(o, text(1), secret)
	startAt(o, harness.Replaced(t, text(2), "embedded {", "embedded {\n\t\t\t\tdir "+disk, "\tpubsub\n", "\tpubsub\n\tpubsub_ready\n"), secret)
	works(o)
	third := o.Edges[2]
	third.ExpectMetrics(harness.Samples{"millrace_embedded_storage_up": 1})

	smalldisk.Fill(t, disk)
	third.Poll("the full disk to be noticed", func() bool {
		awaitToken(o, 0)
		return third.Metrics()["millrace_embedded_storage_up"] == 0
	})
	ready := func() string { return string(third.Rest("GET", "/ready", "", nil).Body) }
	if got := ready(); got != "ready\nthe embedded NATS server stores no tokens" {
		t.Errorf("readiness is %q", got)
	}
	works(o) // at the third edge, too: it asks the others
	third.ExpectMetrics(harness.Samples{`millrace_broker_up{broker=nats}`: 1})
	o.Edges[0].ExpectMetrics(harness.Samples{`millrace_token_store_replicas{state=behind}`: 1})
	if !strings.Contains(third.Output(), "the embedded NATS server has stopped storing tokens") {
		t.Error("the edge's log does not say so")
	}

	smalldisk.Free(t, disk)
	third.ExpectMetrics(harness.Samples{"millrace_embedded_storage_up": 1})
	o.Edges[0].ExpectMetrics(harness.Samples{`millrace_token_store_replicas{state=current}`: 3})
	o.Edges[1].Kill()
	o.Token = awaitToken(o, 0)
	s := o.Session(2)
	o.Edges[0].Revoke(o.Edges[0].Master, o.Token).Decode(t, http.StatusOK, new(harness.Object))
	s.ExpectText("ERR:" + string(wire.CodeTokenRevoked))
	s.ExpectClose(wire.CloseForbidden)
}
