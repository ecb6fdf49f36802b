package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/harness"
	"github.com/millrace/millrace/internal/loopback"
)

// The Caddyfile that `pubsub caddyfile` prints is an edge as it is, and keeps its histories when it
// is stopped and started again. It needs only the variable that its first lines name.
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
	must(t, os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(run("pubsub", "caddyfile", origin)), 0o600))
	master := harness.MasterToken.FindString(run("pubsub", "master-token", "create", "--static", "--name", "backend"))
	env = append(env, "MILLRACE_MASTER_TOKEN="+master)
	run("validate", "--config", "Caddyfile")

	admin, err := client.NewTokenAdmin(origin, master)
	must(t, err)
	var token, first string
	for _, text := range []string{"before the restart", "after it"} {
		edge := harness.StartBackground(t, command("run"))
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
