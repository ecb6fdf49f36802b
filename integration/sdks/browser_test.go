package sdks

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/integration/sdk"
)

// startSDKBrowsers starts one in each browser of sdkKinds, by its name; they end with the
// test.
func startSDKBrowsers(t *testing.T) map[string]*sdk.Browser {
	t.Helper()
	all := map[string]*sdk.Browser{}
	for _, kind := range browser.Browsers {
		if !slices.ContainsFunc(sdk.Kinds, func(k sdk.Kind) bool { return k.Where == kind.Name }) {
			continue
		}
		if err := sdk.HasSDK(); err != nil {
			t.Fatal(err)
		}
		all[kind.Name] = startSDKBrowser(t, &browser.Browser{T: t, Name: kind.Name, Driver: kind.Start(t), Context: "sdk"})
	}
	return all
}

func startSDKBrowser(t *testing.T, c *browser.Browser) *sdk.Browser {
	t.Helper()
	b := &sdk.Browser{Linked: make(chan struct{}), Gone: make(chan struct{}), Reports: map[string]func(sdk.Report){}}
	mux := http.NewServeMux()
	mux.Handle("/sdk/", http.StripPrefix("/sdk/", modules(sdk.BuiltSDK)))
	mux.Handle("/clients/", http.StripPrefix("/clients/", modules("clients")))
	mux.HandleFunc("/link", b.Take)
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<!doctype html><title>SDK</title><script type="module" src="/clients/sdk_page.js"></script>`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	// localhost is a secure context, whatever the server calls itself.
	c.Open("page", strings.Replace(server.URL, "127.0.0.1", "localhost", 1)+"/page", "")
	select {
	case <-b.Linked:
	case <-time.After(harness.WaitTimeout):
		t.Fatal("the page does not run")
	}
	t.Cleanup(func() {
		list, _ := c.Do(harness.Object{"cmd": "complaints", "context": c.Context}).([]any)
		for _, complaint := range list { // refused handshakes are complaints, too
			if text := fmt.Sprint(complaint); strings.HasPrefix(text, "uncaught") {
				t.Errorf("the browser complains: %s", text)
			}
		}
		c.Do(harness.Object{"cmd": "close", "context": c.Context})
		<-b.Gone
	})
	return b
}

// modules serves a folder with the type that browsers want of modules.
func modules(folder string) http.Handler {
	files := http.FileServer(http.Dir(folder))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		files.ServeHTTP(w, r)
	})
}
