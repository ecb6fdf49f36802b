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

	"github.com/millrace/millrace/integration/harness"
)

// The README's tour does what the README says, pasted as it stands: only the
// ports, the program's path and the file in /tmp are others here.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tour, _ := strings.Cut(string(text), "\n## Five-minute tour\n")
	tour, _, _ = strings.Cut(tour, "\n## ")
	blocks := regexp.MustCompile("(?s)```(sh)?\n(.*?)```").FindAllStringSubmatch(tour, -1)
	if len(blocks) != 8 {
		t.Fatalf("the tour has %d blocks: the test knows 8", len(blocks))
	}
	d := harness.NewDevEdge(t)
	d.Env = append(d.Env, fmt.Sprintf("CADDY_ADMIN=localhost:%d", d.Ports[2]))
	adapted := strings.NewReplacer(
		"go build -o millrace ./cmd/millrace\n", "",
		"./millrace", harness.Program,
		"localhost:8080", fmt.Sprintf("localhost:%d", d.Ports[1]),
		"/tmp/tour.json", filepath.Join(t.TempDir(), "tour.json"),
	)
	sh := func(blocks ...[]string) *exec.Cmd {
		var script strings.Builder
		for _, b := range blocks {
			script.WriteString(adapted.Replace(b[2]))
		}
		cmd := exec.Command("bash", "-c", script.String())
		cmd.Dir, cmd.Env = d.Home, d.Env
		return cmd
	}
	// printed compares with a block of the README, in which … stands for anything.
	printed := func(got string, block []string) {
		t.Helper()
		want := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(block[2])), "…", ".+")
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(got) {
			t.Errorf("printed\n%s\nthe README says\n%s", got, block[2])
		}
	}
	issue, issued, subscribe, publish, received, refused, revoke, revoked := blocks[0], blocks[1], blocks[2], blocks[3], blocks[4], blocks[5], blocks[6], blocks[7]

	d.Start(t)
	page := regexp.MustCompile(`http://\S+/demo\b`).FindString(tour)
	get := exec.Command("curl", "-sSf", "--noproxy", "*", adapted.Replace(page))
	if out, err := get.CombinedOutput(); page == "" || err != nil || !strings.Contains(string(out), "<title>Millrace demo</title>") {
		t.Errorf("the page %q: %v\n%s", page, err, out)
	}
	out, err := sh(issue).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed(string(out), issued)

	subscriber := harness.StartBackground(t, sh(subscribe))
	subscriber.Await(subscriber.Err, "OK:SUB:demo.room:news.#")
	out, err = sh(publish, refused, revoke).CombinedOutput()
	if err != nil {
		t.Errorf("%v", err)
	}
	if n := strings.Count(string(out), "\nrefused\n"); n != 2 {
		t.Errorf("refused %d times, want 2:\n%s", n, out)
	}
	printed(string(out), revoked)
	subscriber.ExitCode()
	printed(subscriber.Out.String(), received)
	if got := subscriber.Err.String(); !strings.Contains(got, "token_revoked") || !strings.Contains(got, "4403") {
		t.Errorf("after the revocation the subscriber prints %s", got)
	}
	d.Stop(t, syscall.SIGINT)
}
