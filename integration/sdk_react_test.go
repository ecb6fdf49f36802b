package integration

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
)

// builtReact is what scripts/sdk-react.sh makes of sdk/react/test/page.tsx, by version of
// React.
const builtReact = "../sdk/react/test-out/page"

const (
	reactComponents = 200
	reactChannels   = 20
	reactEvery      = 20 * time.Millisecond // a number to each channel
)

// In a page, 200 components of @millrace/react with 20 subscriptions come and go at
// random, in StrictMode, while somebody publishes numbers. Each component gets them
// without a hole and without a repetition, over one connection. When all are gone, so are
// the subscriptions, and the page's memory does not grow. A soak does it with all versions
// of React, for a minute each; MILLRACE_SOAK_TIME is another time.
func TestReact(t *testing.T) {
	t.Parallel()
	chrome := &browser{t: t, name: "chromium", driver: startChromium(t)}
	for _, version := range atLength([]string{"19"}, []string{"18", "19"}) {
		chrome.run(t, version, func(b *browser) {
			newReactPage(t, b, version).soak(soakFor(t, 3*time.Second, time.Minute), atLength(3, 10))
		})
	}
}

type reactPage struct {
	tab
	edge      *edge
	tenant    string
	publisher *client.Client
	next      [reactChannels]int
}

func newReactPage(t *testing.T, b *browser, version string) *reactPage {
	t.Helper()
	if _, err := os.Stat(builtReact + "/" + version + "/page.js"); err != nil {
		t.Fatalf("the page of @millrace/react is not built (%v): run scripts/install-test-deps.sh", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/page/", http.StripPrefix("/page/", modules(builtReact)))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>React</title><body><script type="module" src="/page/%s/page.js"></script>`, version)
	})
	server := httptest.NewServer(mux)
	b.t.Cleanup(server.Close)
	p := &reactPage{edge: startEdge(b.t, metricsCaddyfile), tenant: "paint.react"}
	grant := object{"tenant_ids": []string{"react"}, "allow_channels_pub": []string{"#"}, "allow_channels_sub": []string{"#"}}

	ctx, cancel := context.WithTimeout(b.t.Context(), waitTimeout)
	defer cancel()
	options := client.Options{Token: p.edge.issue(grant).Token, Transports: []client.Transport{client.WebSocket}}
	var err error
	if p.publisher, err = client.Connect(ctx, []string{p.edge.httpURL("")}, options); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = p.publisher.Close() })

	p.tab = b.open("react", server.URL, "")
	p.until("globalThis.soak !== undefined")
	var loaded string
	if p.evaluate(&loaded, "soak.version"); !strings.HasPrefix(loaded, version+".") {
		b.t.Fatalf("the page has React %s, want %s", loaded, version)
	}
	p.evaluate(nil, "soak.start(%s)", object{
		"url": p.edge.httpURL(""), "tenant": p.tenant, "components": reactComponents, "channels": reactChannels, "linger": 50,
		"options": object{"token": p.edge.issue(grant).Token, "transports": []string{"websocket"}},
	})
	p.until("soak.connection?.state === 'connected'")
	return p
}

// soak divides the time into rounds, after each of which nothing may be left.
func (p *reactPage) soak(total time.Duration, rounds int) {
	t := p.t
	t.Helper()
	var heaps []int
	for range rounds {
		p.evaluate(nil, "soak.shuffle(true)")
		p.publish(time.Now().Add(total / time.Duration(rounds)))
		p.evaluate(nil, "soak.shuffle(false)")
		p.publish(time.Now()) // a last number for those that have just been mounted
		p.until("soak.problems.length > 0 || soak.reached(%s)", p.last())
		p.wantNoProblem()
		if n := p.connections(); n != 2 {
			t.Errorf("the edge has %d connections, want that of the page and that of the publisher", n)
		}
		p.evaluate(nil, "soak.clear(true)")
		p.edge.poll("the end of all subscriptions", func() bool { return p.edge.metrics()["millrace_subscriptions"] == 0 })
		var left int
		if p.evaluate(&left, "soak.last.size"); left != 0 {
			t.Errorf("%d components are still mounted", left)
		}
		heap, _ := p.act("heap", object{}).(float64)
		heaps = append(heaps, int(heap))
	}
	var got, mounts, renders int
	p.evaluate(&got, "soak.got")
	p.evaluate(&mounts, "soak.mounts")
	p.evaluate(&renders, "soak.renders")
	t.Logf("%d numbers published to each of %d channels; reducers got %d; %d mounts, %d renders with something new; the heap after each round: %d bytes",
		p.next[0], reactChannels, got, mounts, renders, heaps)
	if got == 0 || mounts < reactComponents {
		t.Errorf("%d mounts got %d messages: this tests nothing", mounts, got)
	}
	// The first rounds make what stays, as compiled code.
	if first, last := heaps[1], heaps[len(heaps)-1]; last > first+first/10 {
		t.Errorf("the heap grows: %d bytes after each round", heaps)
	}
	p.evaluate(nil, "soak.clear(false)")
	p.edge.poll("the end of the page's connection", func() bool { return p.connections() == 1 })
}

// publish publishes a number to each channel, and goes on until a time.
func (p *reactPage) publish(until time.Time) {
	p.t.Helper()
	ctx, cancel := context.WithDeadline(p.t.Context(), until.Add(waitTimeout))
	defer cancel()
	tick := time.NewTicker(reactEvery)
	defer tick.Stop()
	for {
		for i := range p.next {
			err := p.publisher.Publish(ctx, p.tenant, fmt.Sprintf("n%d.x", i), fmt.Append(nil, p.next[i]))
			if err != nil {
				p.t.Fatal(err)
			}
			p.next[i]++
		}
		if !time.Now().Before(until) {
			return
		}
		<-tick.C
	}
}

func (p *reactPage) last() []int {
	all := make([]int, len(p.next))
	for i, next := range p.next {
		all[i] = next - 1
	}
	return all
}

func (p *reactPage) connections() int {
	p.t.Helper()
	var got struct{ Connections []object }
	p.edge.adminCall("GET", "/pubsub/connections", nil).decode(p.t, http.StatusOK, &got)
	return len(got.Connections)
}

func (p *reactPage) wantNoProblem() {
	p.t.Helper()
	var problems []string
	if p.evaluate(&problems, "soak.problems"); len(problems) > 0 {
		p.t.Fatalf("the page has found %d problems: %q", len(problems), problems)
	}
}
