package networks

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// firefoxPrefs are what the remote agent of Firefox does not set by itself.
const firefoxPrefs = `
user_pref("network.proxy.type", 0);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");
`

// openFirefox starts Firefox, and drives it by WebDriver BiDi.
func openFirefox(url string) (leave func(), err error) {
	profile, err := os.MkdirTemp("", "firefox") // in the test's folder
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(cmp.Or(os.Getenv("FIREFOX"), "/usr/bin/firefox-esr"),
		"--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0")
	cmd.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	leave = func() {
		_ = cmd.Process.Kill() // what it leaves behind, its machine's end takes away
		<-ended
	}
	address, err := listening(said)
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, said)
		_ = cmd.Wait()
		close(ended)
	}()
	if err == nil {
		err = show(address, url)
	}
	if err != nil {
		leave()
		return nil, fmt.Errorf("Firefox: %w", err)
	}
	return leave, nil
}

var listens = regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`)

// listening is the address that Firefox says of itself.
func listening(said io.Reader) (string, error) {
	var all strings.Builder
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if found := listens.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], nil
		}
		all.WriteString(lines.Text() + "\n")
	}
	return "", errors.New("it ended:\n" + all.String())
}

// show opens a page. The session stays, as the page does.
func show(address, url string) error {
	conn, response, err := websocket.DefaultDialer.Dial(address+"/session", nil)
	if err != nil {
		return err
	}
	response.Body.Close()
	_ = conn.SetReadDeadline(time.Now().Add(waitTimeout))
	type object map[string]any
	ids := 0
	do := func(into any, method string, params object) error {
		ids++
		if err := conn.WriteJSON(object{"id": ids, "method": method, "params": params}); err != nil {
			return err
		}
		answer := struct {
			Type, Error, Message string
			ID                   int
			Result               any
		}{Result: into}
		for answer.ID != ids {
			if err := conn.ReadJSON(&answer); err != nil {
				return fmt.Errorf("%s: %w", method, err)
			}
		}
		if answer.Type == "error" {
			return fmt.Errorf("%s: %s: %s", method, answer.Error, answer.Message)
		}
		return nil
	}
	insecure := object{"alwaysMatch": object{"acceptInsecureCerts": true}}
	if err := do(nil, "session.new", object{"capabilities": insecure}); err != nil {
		return err
	}
	var tab struct{ Context string }
	if err := do(&tab, "browsingContext.create", object{"type": "tab"}); err != nil {
		return err
	}
	return do(nil, "browsingContext.navigate", object{"context": tab.Context, "url": url, "wait": "complete"})
}
