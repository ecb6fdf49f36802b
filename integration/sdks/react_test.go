package sdks

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// builtReact is what scripts/npm.sh makes of sdk/react/test/page.tsx, by version of
// React.
const builtReact = "../sdk/react/test-out/page"

const (
	reactTenant     = "paint.react"
	reactComponents = 200
	reactChannels   = 20
)

// In a page, 200 components of @millrace/react with 20 subscriptions come and go at
// random, in StrictMode, while somebody publishes numbers. Each component gets them
// without a hole and without a repetition, over one connection. When all are gone, so are
// the subscriptions, and the page's memory does not grow. A soak does it with all versions
// of React, for a minute each; MILLRACE_SOAK_TIME is another time.
func TestReact(t *testing.T) {
	t.Parallel()
	chrome := &browser.Browser{T: t, Name: "chromium", Driver: browser.StartChromium(t)}
	for _, version := range harness.AtLength([]string{"19"}, []string{"18", "19"}) {
		chrome.Run(t, version, func(b *browser.Browser) {
			newReactPage(t, b, version).soak(harness.SoakFor(t, 3*time.Second, time.Minute), harness.AtLength(3, 10))
		})
	}
}

type reactPage struct {
	browser.Tab
	edge      *harness.Edge
	publisher *client.Client
	next      int // number to each of the channels
}

func newReactPage(t *testing.T, b *browser.Browser, version string) *reactPage {
	t.Helper()
	if _, err := os.Stat(builtReact + "/" + version + "/page.js"); err != nil {
		t.Fatalf("the page of @millrace/react is not built (%v): run scripts/install-test-deps.sh", err)
	}
	p := &reactPage{edge: harness.StartEdge(b.T, harness.MetricsCaddyfile)}
	token := p.edge.Issue(harness.AllowAll("react")).Token
	var err error
	options := client.Options{Token: token, Transports: []client.Transport{client.WebSocket}}
	p.publisher, err = client.Connect(b.T.Context(), []string{p.edge.HttpURL("")}, options)
	if err != nil {
		b.T.Fatal(err)
	}
	b.T.Cleanup(func() { _ = p.publisher.Close() })

	p.Tab = b.Open("react", sdk.Serve(b.T, "/page/"+version+"/page.js", map[string]http.Handler{"/page/": sdk.Modules(builtReact)}), "")
	p.Until("globalThis.soak !== undefined")
	var loaded string
	if p.Evaluate(&loaded, "soak.version"); !strings.HasPrefix(loaded, version+".") {
		b.T.Fatalf("the page has React %s, want %s", loaded, version)
	}
	p.Evaluate(nil, "soak.start(%s)", harness.Object{
		"url": p.edge.HttpURL(""), "tenant": reactTenant, "components": reactComponents, "channels": reactChannels, "linger": 50,
		"options": harness.Object{"token": token, "transports": []string{"websocket"}},
	})
	p.Until("soak.connection?.state === 'connected'")
	return p
}

// soak divides the time into rounds, after each of which nothing may be left.
func (p *reactPage) soak(total time.Duration, rounds int) {
	t := p.T
	t.Helper()
	var heaps []int
	for range rounds {
		p.Evaluate(nil, "soak.shuffle(true)")
		p.publish(time.Now().Add(total / time.Duration(rounds)))
		p.Evaluate(nil, "soak.shuffle(false)")
		// Numbers go on until those have got one that have just been mounted.
		reached, end := false, time.Now().Add(harness.WaitTimeout)
		for wait := time.Second; !reached; wait *= 2 {
			last := p.publish(time.Now())
			for begin := time.Now(); !reached && time.Since(begin) < wait; time.Sleep(20 * time.Millisecond) {
				p.Evaluate(&reached, "soak.problems.length > 0 || soak.reached(%s)", last)
			}
			if time.Now().After(end) {
				t.Fatalf("not all components get %v", last)
			}
		}
		var problems []string
		if p.Evaluate(&problems, "soak.problems"); len(problems) > 0 {
			t.Fatalf("the page has found %d problems: %q", len(problems), problems)
		}
		if n := p.edge.Sessions(); n != 2 {
			t.Errorf("the edge has %d connections, want that of the page and that of the publisher", n)
		}
		p.Evaluate(nil, "soak.clear(true)")
		p.edge.Poll("the end of all subscriptions", func() bool { return p.edge.Metrics()["millrace_subscriptions"] == 0 })
		var left int
		if p.Evaluate(&left, "soak.last.size"); left != 0 {
			t.Errorf("%d components are still mounted", left)
		}
		heap, _ := p.Act("heap", harness.Object{}).(float64)
		heaps = append(heaps, int(heap))
	}
	var got, mounts int
	p.Evaluate(&got, "soak.got")
	p.Evaluate(&mounts, "soak.mounts")
	t.Logf("%d numbers to each channel; %d mounts got %d; the heap after each round: %d bytes", p.next, mounts, got, heaps)
	if got == 0 || mounts < reactComponents {
		t.Errorf("%d mounts got %d messages: this tests nothing", mounts, got)
	}
	// The first rounds make what stays, as compiled code.
	if first, last := heaps[1], heaps[len(heaps)-1]; last > first+first/10 {
		t.Errorf("the heap grows: %d bytes after each round", heaps)
	}
	p.Evaluate(nil, "soak.clear(false)")
	p.edge.Poll("the end of the page's connection", func() bool { return p.edge.Sessions() == 1 })
}

// publish publishes a number to each channel, and goes on until a time. It returns the last
// ones.
func (p *reactPage) publish(until time.Time) (last []int) {
	p.T.Helper()
	for ; ; time.Sleep(20 * time.Millisecond) { // the rate of numbers: there is nothing to wait for
		for i := range reactChannels {
			err := p.publisher.Publish(p.T.Context(), reactTenant, fmt.Sprintf("n%d.x", i), fmt.Append(nil, p.next))
			if err != nil {
				p.T.Fatal(err)
			}
		}
		if p.next++; !time.Now().Before(until) {
			return slices.Repeat([]int{p.next - 1}, reactChannels)
		}
	}
}
