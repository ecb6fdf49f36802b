package tokens

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/harness"
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
	literal := harness.NewMasterToken()
	secret := literal[len(literal)-32:]
	e := harness.StartEdge(t, harness.DefaultCaddyfile, harness.WithEnv("LITERAL="+literal))

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
		caddyfile := strings.Replace(harness.DefaultCaddyfile, harness.DefaultMaster, "\n"+directive+"\n", 1)
		out, err := e.TryReload(caddyfile)
		if err == nil {
			t.Errorf("%s: the configuration is accepted", name)
		}
		if strings.Contains(out, secret) {
			t.Errorf("%s: the error of reload holds the secret: %s", name, out)
		}
		for _, command := range commands[name] {
			out, err := e.Command(command, "--config", e.File, "--adapter", "caddyfile").CombinedOutput()
			if err == nil && (command != "adapt" || name == "environment") { // adapt does not look into a hash
				t.Errorf("%s: %s accepts the configuration", name, command)
			}
			if err != nil && strings.Contains(string(out), secret) {
				t.Errorf("%s: the error of %s holds the secret: %s", name, command, out)
			}
		}
	}

	// As JSON, and by way of the admin API, too.
	for name, app := range map[string]harness.Object{
		"literal":     {"master_tokens": []harness.Object{{"token": literal}}},
		"not a hash":  {"master_tokens": []harness.Object{{"token": literal + "_sha256:x"}}},
		"in braces":   {"master_tokens": []harness.Object{{"token": "{env.LITERAL}{" + literal + "}"}}},
		"a mask":      {"master_tokens": []harness.Object{{"token": "{env.LITERAL}", "allow_ip_masks": []string{literal}}}},
		"a prefix":    {"master_tokens": []harness.Object{{"token": "{env.LITERAL}", "tenant_prefix": ":" + literal}}},
		"wrong type":  {"master_tokens": literal},
		"wrong place": {"master_token": literal},
	} {
		config, err := json.Marshal(harness.Object{
			"admin": harness.Object{"listen": e.AdminAddress()}, "apps": harness.Object{"pubsub": app},
		})
		if err != nil {
			t.Fatal(err)
		}
		// Caddy replaces its admin endpoint with each attempt: one that closes may
		// have taken the next connection, and drops it.
		var got harness.Answer
		e.Poll("an answer of /load", func() (answered bool) {
			got, err = e.Try(harness.Call{Method: "POST", URL: e.AdminURL("/load"), Body: config})
			return err == nil
		})
		if got.Status == 200 {
			t.Errorf("%s: /load accepts the configuration", name)
		}
		fmt.Fprintf(&wrote, "%v%s\n", got.Header, got.Body)
	}
	e.Rest("GET", "/v1/tokens", literal, nil).Problem(t, 401, "bad_master_token")
	fmt.Fprintf(&wrote, "%s%s", e.Do(harness.Call{Method: "GET", URL: e.AdminURL("/config/")}).Body, e.Output())
	saved, err := os.ReadFile(filepath.Join(e.Dir, "config/caddy/autosave.json"))
	if err != nil {
		t.Fatal(err)
	}
	wrote.Write(saved)
	if found := harness.FindSecret(wrote.String(), secret); found != "" {
		t.Errorf("the secret is found in %s", found)
	}
}
