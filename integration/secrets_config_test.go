package integration

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hashForm is a static master token as it may stand in a configuration.
func hashForm(token string) string {
	parts := strings.Split(token, "_")
	return fmt.Sprintf("%s_%s_sha256:%x", parts[0], parts[1], sha256.Sum256([]byte(parts[2])))
}

// A secret that stands in a configuration is refused, and not repeated in the
// error or kept anywhere.
func TestLiteralMasterIsRefused(t *testing.T) {
	t.Parallel()
	literal := newMasterToken()
	secret := literal[len(literal)-32:]
	e := startEdge(t, defaultCaddyfile, withEnv("LITERAL="+literal))

	var wrote strings.Builder
	// Each starts a process, so not all of them with everything.
	commands := map[string][]string{
		"environment": {"adapt", "validate", "run"}, "not a hash": {"adapt", "validate", "run"}, "an option": {"adapt"},
	}
	for name, directive := range map[string]string{
		"literal":           "master_token " + literal,
		"quoted":            "master_token `" + literal + "`",
		"environment":       "master_token {$LITERAL}",
		"default value":     "master_token {$NOTHING:" + literal + "}",
		"literal in braces": "master_token {" + literal + "}",
		"env and literal":   "master_token {env.LITERAL}" + literal,
		"two arguments":     "master_token {env.LITERAL} " + literal,
		"both arguments":    "master_token " + literal + " " + literal,
		"an option":         "master_token {env.LITERAL} {\n" + literal + "\n}",
		"option's value":    "master_token {env.LITERAL} {\nname a " + literal + "\n}",
		"a mask":            "master_token {env.LITERAL} {\nallow_ip_masks " + literal + "\n}",
		"a prefix":          "master_token {env.LITERAL} {\ntenant_prefix :" + literal + "\n}",
		"not a hash":        "master_token " + literal + "_sha256:",
		"hash of nothing":   "master_token MT_" + secret + "_sha256:" + literal,
		"outside":           literal,
		"without directive": "token {$LITERAL}",
	} {
		caddyfile := strings.Replace(defaultCaddyfile, defaultMaster, "\n"+directive+"\n", 1)
		out, err := e.tryReload(caddyfile)
		if err == nil {
			t.Errorf("%s: the configuration is accepted", name)
		}
		if strings.Contains(out, secret) {
			t.Errorf("%s: the error of reload holds the secret: %s", name, out)
		}
		for _, command := range commands[name] {
			out, err := e.command(command, "--config", e.file, "--adapter", "caddyfile").CombinedOutput()
			if err == nil && (command != "adapt" || name == "environment") { // adapt does not look into a hash
				t.Errorf("%s: %s accepts the configuration", name, command)
			}
			if err != nil && strings.Contains(string(out), secret) {
				t.Errorf("%s: the error of %s holds the secret: %s", name, command, out)
			}
		}
	}

	// As JSON, and by way of the admin API, too.
	for name, app := range map[string]object{
		"literal":     {"master_tokens": []object{{"token": literal}}},
		"not a hash":  {"master_tokens": []object{{"token": literal + "_sha256:x"}}},
		"in braces":   {"master_tokens": []object{{"token": "{env.LITERAL}{" + literal + "}"}}},
		"a mask":      {"master_tokens": []object{{"token": "{env.LITERAL}", "allow_ip_masks": []string{literal}}}},
		"a prefix":    {"master_tokens": []object{{"token": "{env.LITERAL}", "tenant_prefix": ":" + literal}}},
		"wrong type":  {"master_tokens": literal},
		"wrong place": {"master_token": literal},
	} {
		config, err := json.Marshal(object{
			"admin": object{"listen": e.adminAddress()}, "apps": object{"pubsub": app},
		})
		if err != nil {
			t.Fatal(err)
		}
		// Caddy replaces its admin endpoint with each attempt: one that closes may
		// have taken the next connection, and drops it.
		var got answer
		e.poll("an answer of /load", func() (answered bool) {
			got, err = e.try(call{Method: "POST", URL: e.adminURL("/load"), Body: config})
			return err == nil
		})
		if got.Status == 200 {
			t.Errorf("%s: /load accepts the configuration", name)
		}
		fmt.Fprintf(&wrote, "%v%s\n", got.Header, got.Body)
	}
	e.rest("GET", "/v1/tokens", literal, nil).problem(t, 401, "bad_master_token")
	fmt.Fprintf(&wrote, "%s%s", e.do(call{Method: "GET", URL: e.adminURL("/config/")}).Body, e.output())
	saved, err := os.ReadFile(filepath.Join(e.Dir, "config/caddy/autosave.json"))
	if err != nil {
		t.Fatal(err)
	}
	wrote.Write(saved)
	if found := findSecret(wrote.String(), secret); found != "" {
		t.Errorf("the secret is found in %s", found)
	}
}
