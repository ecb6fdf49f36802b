package browser

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/millrace/millrace/integration/harness"
)

// firefox carries out the commands of clients/browser.mjs over WebDriver BiDi.
type firefox struct {
	bidi     *bidi
	contexts map[string]*firefoxContext
	tabs     map[string]firefoxTab

	mu         sync.Mutex
	complaints map[string][]string // by the browsing context's id
}

// A firefoxContext is what tabs share: a user context, with storage of its own.
type firefoxContext struct {
	id   string
	tabs []string // ids of browsing contexts
}

// Event keeps what a page has written to the console, and its uncaught errors. Only some
// of the browser's own complaints belong to a page.
func (f *firefox) Event(method string, params json.RawMessage) {
	var entry struct {
		Type, Level, Text string
		Source            struct{ Context string }
	}
	if method != "log.entryAdded" || json.Unmarshal(params, &entry) != nil {
		return
	}
	var text string
	switch {
	case entry.Level == "error" && entry.Type == "javascript" && uncaught.MatchString(entry.Text):
		text = "uncaught: " + entry.Text
	case entry.Level == "error":
		text = "error: " + entry.Text
	case entry.Level == "warn":
		text = "warning: " + entry.Text
	default:
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.complaints == nil {
		f.complaints = map[string][]string{}
	}
	f.complaints[entry.Source.Context] = append(f.complaints[entry.Source.Context], text)
}

// uncaught matches uncaught errors, which have the same type as the browser's own messages
// about a page, such as that a connection failed.
var uncaught = regexp.MustCompile(`^(uncaught |\w*(Error|Exception)\b)`)

func (f *firefox) Do(command harness.Object) (any, error) {
	field := func(name string) string {
		text, _ := command[name].(string) // empty: there is none
		return text
	}
	tab := f.tabs[field("tab")]
	switch cmd := field("cmd"); cmd {
	case "open":
		return f.Open(field("tab"), field("url"), field("script"))
	case "reload":
		return nil, f.bidi.Do(nil, "browsingContext.reload", harness.Object{"context": tab.id, "wait": "complete"})
	case "click":
		return nil, tab.Click(field("role"), field("name"))
	case "fill":
		return nil, tab.Fill(field("label"), field("value"))
	case "move":
		return nil, tab.move(command["x"], command["y"])
	case "see":
		return tab.See(field("selector"), field("text"))
	case "run":
		return tab.Run(field("expression"))
	case "until":
		return true, tab.Until(func() (bool, error) { return isTrue(tab.Run(field("expression"))) })
	case "complaints":
		return f.complaintsOf(field("context")), nil
	case "close":
		return nil, f.closeContext(field("context"))
	default:
		return nil, fmt.Errorf("there is no command %s", cmd)
	}
}

func (f *firefox) contextOf(tab string) (*firefoxContext, error) {
	name, _, _ := strings.Cut(tab, "/")
	if c := f.contexts[name]; c != nil {
		return c, nil
	}
	var made struct{ UserContext string }
	if err := f.bidi.Do(&made, "browser.createUserContext", harness.Object{}); err != nil {
		return nil, err
	}
	f.contexts[name] = &firefoxContext{id: made.UserContext}
	return f.contexts[name], nil
}

func (f *firefox) Open(tab, url, script string) (status any, err error) {
	c, err := f.contextOf(tab)
	if err != nil {
		return nil, err
	}
	var made struct{ Context string }
	if err := f.bidi.Do(&made, "browsingContext.create", harness.Object{"type": "tab", "userContext": c.id}); err != nil {
		return nil, err
	}
	c.tabs = append(c.tabs, made.Context)
	f.tabs[tab] = firefoxTab{f, made.Context}
	if script != "" {
		if err := f.bidi.Do(nil, "script.addPreloadScript", harness.Object{
			// It runs in the empty page that is there before, too, which has no WebTransport.
			"functionDeclaration": `() => { if (location.host) {` + script + "}}", "contexts": []string{made.Context},
		}); err != nil {
			return nil, err
		}
	}
	if err := f.bidi.Do(nil, "browsingContext.navigate", harness.Object{"context": made.Context, "url": url, "wait": "complete"}); err != nil {
		return nil, err
	}
	return f.tabs[tab].Run(`performance.getEntriesByType("navigation")[0].responseStatus`)
}

func (f *firefox) complaintsOf(context string) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := []any{}
	if f.contexts[context] == nil {
		return list // nothing was opened
	}
	for _, id := range f.contexts[context].tabs {
		for _, text := range f.complaints[id] {
			list = append(list, text)
		}
	}
	return list
}

func (f *firefox) closeContext(context string) error {
	c := f.contexts[context]
	if c == nil {
		return nil
	}
	delete(f.contexts, context)
	for name := range f.tabs {
		if strings.HasPrefix(name, context+"/") {
			delete(f.tabs, name)
		}
	}
	return f.bidi.Do(nil, "browser.removeUserContext", harness.Object{"userContext": c.id})
}
