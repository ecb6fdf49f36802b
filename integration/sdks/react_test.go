package sdks

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
	"github.com/millrace/millrace/internal/testcheck"
)

// In a page, 200 components of @millrace/react with 20 subscriptions come and go at
// random, in StrictMode, while somebody publishes numbers. Each component gets them
// without a hole and without a repetition, over one connection. When all are gone, so are
// the subscriptions, and the page's memory does not grow. A soak does it with all versions
// of React, for a minute each; MILLRACE_SOAK_TIME is another time.
func TestReact(t *testing.T) {
	t.Parallel()
	chrome := browser.Start(t, "chromium")
	for _, version := range harness.AtLength([]string{"19"}, []string{"18", "19"}) {
		chrome.Run(t, version, func(b *browser.Browser) { react(b, version) })
	}
}

func react(b *browser.Browser, version string) {
	const tenant, components, channels = "paint.react", 200, 20
	const built = "../sdk/react/test-out/page" // by scripts/npm.sh of sdk/react/test/page.tsx, by version of React
	if _, err := os.Stat(built + "/" + version + "/page.js"); err != nil {
		b.T.Fatalf("the page of @millrace/react is not built (%v): run scripts/install-test-deps.sh", err)
	}
	edge := harness.StartEdge(b.T, harness.MetricsCaddyfile)
	token := edge.Issue(harness.AllowAll("react")).Token
	options := client.Options{Token: token, Transports: []client.Transport{client.WebSocket}}
	publisher, err := client.Connect(b.T.Context(), []string{edge.HttpURL("")}, options)
	testcheck.Must(b.T, err)
	b.T.Cleanup(func() { _ = publisher.Close() })

	modules := map[string]http.Handler{"/page/": sdk.Modules(built)}
	page := b.Open("react", sdk.Serve(b.T, "/page/"+version+"/page.js", modules), "")
	page.Until("globalThis.soak?.version.startsWith(%s)", version+".")
	page.Evaluate(nil, "soak.start(%s)", harness.Object{
		"url": edge.HttpURL(""), "tenant": tenant, "components": components, "channels": channels, "linger": 50,
		"options": harness.Object{"token": token, "transports": []string{"websocket"}},
	})
	page.Until("soak.connection?.state === 'connected'")

	published := 0 // numbers to each channel
	publish := func() {
		for i := range channels {
			testcheck.Must(b.T, publisher.Publish(b.T.Context(), tenant, fmt.Sprintf("n%d.x", i), fmt.Append(nil, published)))
		}
		published++
	}
	var heaps []float64
	rounds := harness.AtLength(3, 10)
	round := harness.SoakFor(b.T, 3*time.Second, time.Minute) / time.Duration(rounds)
	for range rounds {
		page.Evaluate(nil, "soak.shuffle(true)")
		for end := time.Now().Add(round); time.Now().Before(end); {
			publish()
			time.Sleep(20 * time.Millisecond) // the rate of numbers: there is nothing to wait for
		}
		page.Evaluate(nil, "soak.shuffle(false)")
		tries := 0
		edge.Poll("the last numbers in all components", func() (reached bool) {
			if tries++; tries&(tries-1) == 0 { // one more after pauses that double, for those that have just been mounted
				publish()
			}
			last := slices.Repeat([]int{published - 1}, channels)
			page.Evaluate(&reached, "soak.problems.length > 0 || soak.reached(%s)", last)
			return reached
		})
		var problems []string
		if page.Evaluate(&problems, "soak.problems"); len(problems) > 0 {
			b.T.Fatalf("the page has found %d problems: %q", len(problems), problems)
		}
		harness.AwaitConnections(edge, 2) // that of the page and that of the publisher
		page.Evaluate(nil, "soak.clear(true)")
		page.Until("soak.last.size === 0")
		edge.ExpectMetrics(harness.Samples{"millrace_subscriptions": 0})
		heap, _ := page.Act("heap", harness.Object{}).(float64)
		heaps = append(heaps, heap)
	}
	page.Until("soak.got > 0 && soak.mounts >= %s", components) // else this tests nothing
	// The first rounds make what stays, as compiled code.
	if heaps[rounds-1] > 1.1*heaps[1] {
		b.T.Errorf("the heap grows: %.0f bytes after each round", heaps)
	}
	page.Evaluate(nil, "soak.clear(false)")
	harness.AwaitConnections(edge, 1)
}
