package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/guides"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// The commands of docs/how-to/production.md print a Caddyfile that is an edge as it is, and keeps its
// histories when it is stopped and started again; what the page adds to the file is valid in it.
func TestProductionCaddyfile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "TMPDIR=" + os.Getenv("TMPDIR"), "CADDY_ADMIN=unix/" + filepath.Join(dir, "admin.sock")}
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(harness.Program, args...)
		cmd.Dir, cmd.Env, cmd.Stderr = dir, env, os.Stderr
		return cmd
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := command(args...).Output()
		must(t, err)
		return string(out)
	}
	origin := fmt.Sprintf("http://localhost:%d", loopback.FreePort(t))
	page, commands := guides.Document(t, "../docs/how-to/production.md", "sh")
	print, create, _ := strings.Cut(commands[0], "\n")
	start, ok := strings.CutPrefix(strings.TrimSpace(commands[1]), "MILLRACE_MASTER_TOKEN=MT_…_sha256:… millrace ")
	print, to := strings.CutSuffix(strings.Replace(print, "edge.example.com", origin, 1), " >Caddyfile")
	if len(commands) != 2 || !ok || !to {
		t.Fatalf("the test knows other commands than %q", commands)
	}
	caddyfile := run(strings.Fields(print)[1:]...)
	must(t, os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(caddyfile), 0o600))
	created := run(strings.Fields(create)[1:]...)
	master := harness.MasterToken.FindString(created)
	env = append(env, "MILLRACE_MASTER_TOKEN="+regexp.MustCompile(`MT_\w+_sha256:\w+`).FindString(created))
	added := regexp.MustCompile("(?s)```caddyfile\n\\{\n\tpubsub \\{\n(.*?)\n\t}\n}\n(.*?)```").FindStringSubmatch(page)
	must(t, os.WriteFile(filepath.Join(dir, "more"), []byte(strings.Replace(caddyfile, "\tpubsub {", "\tpubsub {\n"+added[1], 1)+added[2]), 0o600))
	run("validate", "--adapter", "caddyfile", "--config", "more")

	admin, err := client.NewTokenAdmin(origin, master)
	must(t, err)
	var token, first string
	for _, text := range []string{"before the restart", "after it"} {
		edge := harness.StartBackground(t, command(strings.Fields(start)...))
		edge.Await(edge.Err, "serving initial configuration")
		if token == "" {
			issued, err := admin.Issue(t.Context(), client.IssueRequest{CreatedBy: "test", ExpiresIn: time.Hour, Grants: []client.Grant{{
				Tenants: []string{"shop"}, Publish: []string{"#"}, Subscribe: []string{"#"}, History: []string{"#"},
			}}})
			must(t, err)
			token = issued.Token
		}
		c, err := client.Connect(t.Context(), []string{origin}, client.Options{Token: token})
		must(t, err)
		position, err := c.PublishConfirmed(t.Context(), "shop", "chat.hall", []byte(text))
		must(t, err)
		if first == "" {
			first = position
		}
		chat, err := c.Subscribe(t.Context(), "shop", "chat.hall", client.WithHistory(client.LastN(10)))
		must(t, err)
		if m := <-chat.Messages(); string(m.Payload) != "before the restart" || m.Position != first {
			t.Errorf("%s, the history begins with %q at %q, published at %q", text, m.Payload, m.Position, first)
		}
		must(t, c.Close())
		edge.Signal(syscall.SIGTERM)
		if code := edge.ExitCode(); code != 0 {
			t.Errorf("exit code %d\n%s", code, edge.Err)
		}
	}
}
