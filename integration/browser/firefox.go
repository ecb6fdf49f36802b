package browser

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/millrace/millrace/integration/harness"
)

// firefox carries out those commands of clients/browser.mjs that tests in Firefox need, over
// WebDriver BiDi (https://www.w3.org/TR/webdriver-bidi/): playwright has no way to a Firefox
// as Debian has it.
type firefox struct {
	conn       *websocket.Conn
	commands   int
	tabs       map[string]string   // the ids of their browsing contexts
	complaints map[string][]string // by these ids
}

// A logEntry is what a page has written to the console, an uncaught error, or a complaint of
// the browser's own. Only some of the latter belong to a page.
type logEntry struct {
	Type, Level, Text string
	Source            struct{ Context string }
}

// uncaught matches uncaught errors, which have the same type as the browser's own messages
// about a page, such as that a connection failed.
var uncaught = regexp.MustCompile(`^(uncaught |\w*(Error|Exception)\b)`)

func (f *firefox) note(entry logEntry) {
	kind := entry.Level
	switch {
	case entry.Level == "warn":
		kind = "warning"
	case entry.Level != "error":
		return
	case entry.Type == "javascript" && uncaught.MatchString(entry.Text):
		kind = "uncaught"
	}
	f.complaints[entry.Source.Context] = append(f.complaints[entry.Source.Context], kind+": "+entry.Text)
}

// call sends a command and decodes its result into into, unless that is nil. It notes the
// events that come before.
func (f *firefox) call(into any, method string, params harness.Object) error {
	f.commands++
	err := f.conn.SetReadDeadline(time.Now().Add(browserStart)) // session.new is answered when it has started
	if err == nil {
		err = f.conn.WriteJSON(harness.Object{"id": f.commands, "method": method, "params": params})
	}
	for err == nil {
		var got struct {
			ID             int // 0: an event
			Params         logEntry
			Result         json.RawMessage
			Error, Message string
		}
		switch err = f.conn.ReadJSON(&got); {
		case err != nil:
		case got.ID != f.commands:
			f.note(got.Params)
		case got.Error != "":
			return fmt.Errorf("%s: %s: %s", method, got.Error, got.Message)
		case into == nil:
			return nil
		default:
			return json.Unmarshal(got.Result, into)
		}
	}
	return fmt.Errorf("%s: %w", method, err)
}

func (f *firefox) Do(command harness.Object) (any, error) {
	field := func(name string) string {
		text, _ := command[name].(string) // empty: there is none
		return text
	}
	tab := f.tabs[field("tab")]
	switch cmd := field("cmd"); cmd {
	case "open":
		return f.open(field("tab"), field("url"), field("script"))
	case "reload":
		return nil, f.call(nil, "browsingContext.reload", harness.Object{"context": tab, "wait": "complete"})
	case "click":
		locator := harness.Object{"role": field("role"), "name": field("name")}
		return nil, f.use(tab, locator, `e.scrollIntoView(), e.click()`)
	case "fill":
		return nil, f.use(tab, harness.Object{"name": field("label")},
			fmt.Sprintf(`e.focus(), e.select(), document.execCommand(%[1]s ? "insertText" : "delete", false, %[1]s)`, quote(field("value"))))
	case "see":
		return f.see(tab, field("selector"), field("text"))
	case "run":
		return f.run(tab, field("expression"))
	case "until":
		return true, until(func() (bool, error) {
			value, err := f.run(tab, field("expression"))
			return value == true, err
		})
	case "complaints", "close":
		return f.leave(field("context"), cmd == "close")
	default:
		return nil, fmt.Errorf("there is no command %s", cmd)
	}
}

func (f *firefox) open(tab, url, script string) (status any, err error) {
	var made struct{ Context string }
	if err := f.call(&made, "browsingContext.create", harness.Object{"type": "tab"}); err != nil {
		return nil, err
	}
	f.tabs[tab] = made.Context
	if err := f.call(nil, "script.addPreloadScript", harness.Object{
		// It runs in the empty page that is there before, too, which has no WebTransport.
		"functionDeclaration": `() => { if (location.host) {` + script + "}}", "contexts": []string{made.Context},
	}); err != nil {
		return nil, err
	}
	if err := f.call(nil, "browsingContext.navigate", harness.Object{"context": made.Context, "url": url, "wait": "complete"}); err != nil {
		return nil, err
	}
	return f.run(made.Context, `performance.getEntriesByType("navigation")[0].responseStatus`)
}

// run evaluates an expression, in which e is the first argument, awaits its value, and
// returns it as JSON has it.
func (f *firefox) run(tab, expression string, arguments ...harness.Object) (value any, err error) {
	var got struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	if err := f.call(&got, "script.callFunction", harness.Object{
		"functionDeclaration": "async (e) => JSON.stringify(await (" + expression + "\n)) ?? 'null'", "awaitPromise": true,
		"arguments": append([]harness.Object{}, arguments...), "target": harness.Object{"context": tab}, "userActivation": true,
	}); err != nil {
		return nil, err
	}
	if got.Type == "exception" {
		return nil, fmt.Errorf("%s: %s", expression, got.ExceptionDetails.Text)
	}
	return value, json.Unmarshal([]byte(got.Result.Value), &value)
}

// until waits until ready is true.
func until(ready func() (bool, error)) error {
	for deadline := time.Now().Add(harness.WaitTimeout); ; time.Sleep(50 * time.Millisecond) {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("it is not so after %v", harness.WaitTimeout)
		}
	}
}

// quote returns a text as JavaScript has it.
func quote(text string) string {
	quoted, _ := json.Marshal(text) // never fails
	return string(quoted)
}

// see waits until a visible element shows text, compared as playwright does: without regard
// to case, and with one space for many.
func (f *firefox) see(tab, selector, text string) (shown any, err error) {
	err = until(func() (bool, error) {
		shown, err = f.run(tab, fmt.Sprintf(`((selector, text) => {
			const plain = (s) => s.replace(/\s+/g, " ").trim().toLowerCase();
			const all = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility({ visibilityProperty: true }));
			return all.find((e) => plain(e.textContent).includes(plain(text)))?.innerText;
		})(%s, %s)`, quote(selector), quote(text)))
		return shown != nil, err
	})
	if err != nil {
		all, _ := f.run(tab, `document.body.innerText`)
		return nil, fmt.Errorf("%s does not show %q but the page %q: %w", selector, text, all, err)
	}
	return shown, nil
}

// use waits until assistive technology finds a usable element, and does with it, e, what the
// expression says.
func (f *firefox) use(tab string, locator harness.Object, expression string) error {
	err := until(func() (bool, error) {
		var found struct {
			Nodes []struct{ SharedID string }
		}
		err := f.call(&found, "browsingContext.locateNodes", harness.Object{
			"context": tab, "locator": harness.Object{"type": "accessibility", "value": locator},
		})
		for _, node := range found.Nodes {
			used, err := f.run(tab, `e.matches("button, input, textarea, select, a, [role]") && !e.disabled && (`+expression+`, true)`,
				harness.Object{"sharedId": node.SharedID})
			if used == true || err != nil {
				return true, err
			}
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("%v: %w", locator, err)
	}
	return nil
}

// leave returns the complaints of the tabs of a test, and closes them if that is wanted.
func (f *firefox) leave(context string, closes bool) (any, error) {
	list := []any{}
	for name, id := range f.tabs {
		if !strings.HasPrefix(name, context+"/") {
			continue
		}
		// The answer comes after the events of before.
		if err := f.call(nil, "browsingContext.getTree", harness.Object{"root": id}); err != nil {
			return nil, err
		}
		for _, text := range f.complaints[id] {
			list = append(list, text)
		}
		if closes {
			delete(f.tabs, name)
			if err := f.call(nil, "browsingContext.close", harness.Object{"context": id}); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
