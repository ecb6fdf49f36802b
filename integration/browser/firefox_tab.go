package browser

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/millrace/millrace/integration/harness"
)

// A firefoxTab is a browsing context.
type firefoxTab struct {
	*firefox
	id string
}

// Run evaluates an expression, awaits its value, and returns it as JSON has it.
func (p firefoxTab) Run(expression string) (value any, err error) {
	var got struct {
		Type             string
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	if err := p.bidi.Do(&got, "script.evaluate", harness.Object{
		"expression": "(async () => JSON.stringify(await (" + expression + "\n)) ?? 'null')()", "awaitPromise": true,
		"target": harness.Object{"context": p.id}, "userActivation": true,
	}); err != nil {
		return nil, err
	}
	if got.Type == "exception" {
		return nil, fmt.Errorf("%s: %s", expression, got.ExceptionDetails.Text)
	}
	return value, json.Unmarshal([]byte(got.Result.Value), &value)
}

func isTrue(value any, err error) (bool, error) { return value == true, err }

// Until waits until ready is true.
func (p firefoxTab) Until(ready func() (bool, error)) error {
	deadline := time.NewTimer(harness.WaitTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := ready(); ok || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			return fmt.Errorf("it is not so after %v", harness.WaitTimeout)
		}
	}
}

// See waits until a visible element shows text, compared as Playwright does: without
// regard to case, and with one space for many.
func (p firefoxTab) See(selector, text string) (shown any, err error) {
	arguments, err := json.Marshal([]string{selector, text})
	if err != nil {
		return nil, err
	}
	const look = `(([selector, text]) => {
		const plain = (s) => s.replace(/\s+/g, " ").trim().toLowerCase();
		const all = [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility({ visibilityProperty: true }));
		const found = all.find((e) => plain(e.textContent).includes(plain(text)));
		return { found: found?.innerText, all: all.map((e) => e.innerText) };
	})`
	var all any
	err = p.Until(func() (bool, error) {
		value, err := p.Run(look + "(" + string(arguments) + ")")
		if err != nil {
			return false, err
		}
		got, _ := value.(map[string]any) // else nothing is found
		shown, all = got["found"], got["all"]
		return shown != nil, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s does not show %q but %q: %w", selector, text, all, err)
	}
	return shown, nil
}

// find waits until assistive technology finds one element, and returns its reference.
func (p firefoxTab) find(locator harness.Object) (element harness.Object, err error) {
	err = p.Until(func() (bool, error) {
		var found struct {
			Nodes []struct{ SharedID string }
		}
		if err := p.bidi.Do(&found, "browsingContext.locateNodes", harness.Object{
			"context": p.id, "locator": harness.Object{"type": "accessibility", "value": locator},
		}); err != nil {
			return false, err
		}
		for _, node := range found.Nodes {
			element = harness.Object{"sharedId": node.SharedID}
			if usable, err := isTrue(p.Call(element, `(e) => e.matches("button, input, textarea, select, a, [role]") && !e.disabled`)); usable || err != nil {
				return usable, err
			}
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("%v: %w", locator, err)
	}
	return element, nil
}

// Call calls a function with an element, and returns a plain value.
func (p firefoxTab) Call(element harness.Object, function string) (value any, err error) {
	var got struct {
		Type             string
		Result           struct{ Value any }
		ExceptionDetails struct{ Text string }
	}
	if err := p.bidi.Do(&got, "script.callFunction", harness.Object{
		"functionDeclaration": function, "awaitPromise": true, "arguments": []harness.Object{element},
		"target": harness.Object{"context": p.id}, "userActivation": true,
	}); err != nil {
		return nil, err
	}
	if got.Type == "exception" {
		return nil, fmt.Errorf("%s: %s", function, got.ExceptionDetails.Text)
	}
	return got.Result.Value, nil
}

func (p firefoxTab) Click(role, name string) error {
	element, err := p.find(harness.Object{"role": role, "name": name})
	if err != nil {
		return err
	}
	if _, err := p.Call(element, `(e) => void e.scrollIntoView({ block: "center", behavior: "instant" })`); err != nil {
		return err
	}
	return p.point(
		harness.Object{"type": "pointerMove", "x": 0, "y": 0, "origin": harness.Object{"type": "element", "element": element}},
		harness.Object{"type": "pointerDown", "button": 0}, harness.Object{"type": "pointerUp", "button": 0},
	)
}

// move moves the pointer to these parts of the window.
func (p firefoxTab) move(x, y any) error {
	value, err := p.Run(fmt.Sprintf("[Math.round(innerWidth * %v), Math.round(innerHeight * %v)]", x, y))
	if err != nil {
		return err
	}
	at, ok := value.([]any)
	if !ok || len(at) != 2 {
		return fmt.Errorf("the window's size is %v", value)
	}
	return p.point(harness.Object{"type": "pointerMove", "x": at[0], "y": at[1]})
}

// point carries out what a mouse does, in a tab that is in front, as a user's is.
func (p firefoxTab) point(actions ...harness.Object) error {
	if err := p.bidi.Do(nil, "browsingContext.activate", harness.Object{"context": p.id}); err != nil {
		return err
	}
	return p.bidi.Do(nil, "input.performActions", harness.Object{"context": p.id, "actions": []harness.Object{
		{"type": "pointer", "id": "mouse", "actions": actions},
	}})
}

// Fill types value in a field in place of what is there.
func (p firefoxTab) Fill(label, value string) error {
	element, err := p.find(harness.Object{"name": label})
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = p.Call(element, `(e) => {
		const value = `+string(encoded)+`;
		e.focus();
		e.select();
		document.execCommand(value ? "insertText" : "delete", false, value);
	}`)
	return err
}
