package guides

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// beside opens another page of docs/how-to, with the same edge and shell, in a folder below.
func (p *Page) beside(name string) *Page {
	p.T.Helper()
	q := Open(p.T, "docs/how-to/"+name+".md")
	for _, port := range []string{"8080", "8443", "2019"} {
		q.ports[port] = p.ports[port]
	}
	q.Folder, q.Env, q.state = filepath.Join(p.Folder, name), p.Env, p.state
	must(p.T, os.Mkdir(q.Folder, 0o700))
	return q
}

// program runs a command beside the test, in the page's folder.
func (p *Page) program(command string) *harness.Background {
	p.T.Helper()
	return p.terminal().background(p.T, "source "+p.state, "cd "+p.Folder, "exec "+p.adapt(command))
}

// edge starts the edge of a page that does not say so.
func (p *Page) edge() *harness.Background {
	p.T.Helper()
	edge := p.program("millrace pubsub dev")
	edge.Await(edge.Out, "Ctrl+C stops the edge.\n")
	return edge
}

// features is the app that has all components of the how-tos, and its backend.
type features struct {
	*Page // of tokens.md
	admin *client.TokenAdmin
	url   string
	given map[string]string // tokens by the user who gets them
	user  atomic.Value      // who is logged in, a string
	chat  *client.Client
}

// The how-tos of what happens in a page do what they say.
func TestFeatures(t *testing.T) {
	t.Parallel()
	chrome := browser.Start(t, "chromium")
	// The edge is killed, tokens lack rights, and users log out.
	chrome.Expected = regexp.MustCompile("WebSocket connection|status of 401|ERR_CONNECTION_REFUSED|^warning: millrace")
	f := &features{Page: Open(t, "docs/how-to/tokens.md", 3000)}
	edge := f.edge()
	f.Run("master-token create")
	f.Files()
	f.given = map[string]string{}
	pages := map[string]*Page{}
	for _, name := range []string{"login-and-logout", "typing", "presence", "scroll-back", "outbox", "optimistic-update", "streaming-answers"} {
		p := f.beside(name)
		pages[name] = p
		p.Files()
		for _, b := range p.Blocks {
			if b.Language == "sh" && !b.tested {
				p.Run(b.Text)
				f.given[name] = strings.TrimSpace(f.Shell("if test -f .env.local; then sed s/VITE_TOKEN=// .env.local; rm .env.local; else echo $MILLRACE_TOKEN; fi"))
			}
		}
	}
	types := f.build()
	f.serve()
	f.backends()
	f.programs()
	open := func(user, show string) browser.Tab {
		tab := chrome.Open(user+" "+show, f.url+"?user="+user+"&show="+show, "said = []; console.log = (...all) => said.push(all.join(' '))")
		tab.See("#connected", "connected")
		return tab
	}
	typing := f.typing(open("typing", "Typing"), open("cleo", "Typing"))
	f.presence(open("presence", "WhoIsHere"), open("ben", "WhoIsHere"), open("cleo", "nothing"))
	f.scrollBack(open)
	f.login(open("ben", "App"))
	f.outage(edge, open("optimistic-update", "Chat"), open("outbox", "nothing"), open("reader", "Chat"))
	f.streaming(pages["streaming-answers"], open("streaming-answers", "Answer"))
	typing.Until(`!document.body.innerText.includes("is typing")`)
	if code := types.ExitCode(); code != 0 {
		t.Errorf("the components are not of their types:\n%s", types.Out)
	}
}

// build compiles the app, and returns what checks its types.
func (f *features) build() (types *harness.Background) {
	main, err := os.ReadFile("guides/testdata/features.tsx")
	must(f.T, err)
	f.Write("main.tsx", string(main))
	f.Shell("npm install --install-links ../millrace/sdk/js ../millrace/sdk/react ws react react-dom typescript @types/react @types/react-dom\n" +
		"node_modules/.bin/esbuild main.tsx --bundle --format=esm --jsx=automatic --log-level=warning --outfile=main.js")
	return f.program("node_modules/.bin/tsc --noEmit --strict --verbatimModuleSyntax --noUnusedLocals --noUnusedParameters --jsx react-jsx --allowJs --skipLibCheck --target es2023 --lib es2023,dom,dom.iterable " +
		"--module esnext --moduleResolution bundler --types react,react-dom main.tsx")
}

func (f *features) serve() {
	master := strings.TrimSpace(f.Shell("printf %s $MILLRACE_MASTER_TOKEN"))
	admin, err := client.NewTokenAdmin(f.URL("http://localhost:8080"), master)
	must(f.T, err)
	f.admin = admin
	f.user.Store("")
	logins := []string{"ben", "cleo"}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		user := r.FormValue("user")
		if user == "" {
			user = f.user.Load().(string)
		}
		if user == "" {
			http.Error(w, "nobody is logged in", http.StatusUnauthorized)
			return
		}
		_ = json.NewEncoder(w).Encode(f.token(user))
	})
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, _ *http.Request) {
		f.user.Store(logins[0])
		fmt.Fprint(w, logins[0])
		logins = append(logins[1:], logins[0])
	})
	mux.HandleFunc("POST /logout", func(http.ResponseWriter, *http.Request) { f.user.Store("") })
	mux.HandleFunc("GET /main.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(f.Folder, "main.js"))
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!doctype html><title>Features</title><ul id="list"></ul><div id="root"></div><script type="module" src="/main.js"></script>`)
	})
	server := httptest.NewServer(mux)
	f.T.Cleanup(server.Close)
	f.url = server.URL + "/"
	f.chat, err = client.Connect(f.T.Context(), []string{f.URL("http://localhost:8080")}, client.Options{Token: f.token("backend")})
	must(f.T, err)
	f.T.Cleanup(func() { _ = f.chat.Close() })
}

func (f *features) token(user string) string {
	if f.given[user] != "" {
		return f.given[user]
	}
	all := []string{"#"}
	grant := client.Grant{Tenants: []string{"demo.room"}, Publish: all, Subscribe: all, History: all, Presence: all}
	if user == "reader" {
		grant.Publish = nil
	}
	issued, err := f.admin.Issue(f.T.Context(), client.IssueRequest{CreatedBy: "test", Subject: user, ExpiresIn: time.Hour, Grants: []client.Grant{grant}})
	must(f.T, err)
	return issued.Token
}

// say publishes texts to the chat, and returns when they are stored.
func (f *features) say(texts ...string) {
	for _, text := range texts {
		_, err := f.chat.PublishConfirmed(f.T.Context(), "demo.room", "chat.lobby", []byte(text))
		must(f.T, err)
	}
}

// backends gets a token from each backend of tokens.md, and uses it.
func (f *features) backends() {
	f.Shell("go mod init app && go mod edit -replace github.com/millrace/millrace=../millrace && go get github.com/millrace/millrace/client")
	for _, command := range []string{"node backend.mjs", "python3 -m uvicorn backend:app --port 3000", "go run main.go"} {
		backend := f.program(command)
		f.Shell(`ask() { MILLRACE_TOKEN=$(curl -s -X POST --fail http://localhost:3000/token | sed 's/.*"token":"\([^"]*\)".*/\1/'); }
			until ask && [[ $MILLRACE_TOKEN ]]; do sleep 0.05; done
			export MILLRACE_TOKEN; millrace pubsub publish --confirm --url ws://localhost:8080/ws --tenant demo.room chat.backends hello`)
		must(f.T, syscall.Kill(-backend.Cmd.Process.Pid, syscall.SIGKILL))
		<-backend.Exited
	}
}

// programs runs those of outbox.md, which print a position.
func (f *features) programs() {
	f.Shell("export MILLRACE_TOKEN=" + f.token("outbox") + "; cd outbox; python3 publish.py | grep -E '^[0-9a-f]+\\.[0-9]+' && go run . | grep -E '^[0-9a-f]+\\.[0-9]+.* <nil>$'")
}

// typing types three times, by a clock of its own: the second time is too soon to be told.
func (f *features) typing(types, watches browser.Tab) browser.Tab {
	flush := func(tabs ...browser.Tab) {
		for _, tab := range tabs {
			tab.Evaluate(nil, `page.client.flush().then(() => new Promise((done) => setTimeout(done)))`)
		}
	}
	types.Evaluate(nil, `void (Date.now = () => 10_000)`)
	watches.Evaluate(nil, `page.client.subscribe("demo.room", "typing.lobby", { onMessage: () => said.push("typed") }).then(() => true)`)
	flush(types, watches) // what they have subscribed to is there
	types.Fill("Message", "h")
	watches.See("p", "typing is typing…")
	types.Fill("Message", "he")
	flush(types, watches)
	var times int
	if watches.Evaluate(&times, `said.length`); times != 1 {
		f.T.Errorf("typing twice at once was told %d times", times)
	}
	types.Evaluate(nil, `void (Date.now = () => 12_000)`)
	types.Fill("Message", "hel")
	watches.Until(`said.length === 2`)
	var own string
	flush(types)
	if types.Evaluate(&own, `document.body.innerText`); strings.Contains(own, "is typing") {
		f.T.Errorf("the page that types shows %q", own)
	}
	return watches
}

func (f *features) presence(ada, ben, cleo browser.Tab) {
	ada.Until(`document.querySelector("ul:not([id])").innerText === "ada\nben"`)
	cleo.Evaluate(nil, `void page.enter(page.client)`)
	cleo.Until(`said.includes("ada,ben,cleo")`)
	ben.Evaluate(nil, `page.client.close().then(() => true)`)
	cleo.Until(`said.includes("ben left")`)
	ada.Until(`document.querySelector("ul:not([id])").innerText === "ada\ncleo"`)
}

func (f *features) scrollBack(open func(user, show string) browser.Tab) {
	for i := range 120 {
		f.say(fmt.Sprint("m", i))
	}
	component, function := open("scroll-back", "Room"), open("cleo", "nothing")
	shows := func(tab browser.Tab, n int, first, last string) {
		tab.Until(`(all => all.length === %s && all[0].innerText === %s && all.at(-1).innerText === %s)([...document.querySelectorAll("li")])`, n, first, last)
	}
	shows(component, 50, "m70", "m119")
	component.Click("button", "Older")
	shows(component, 100, "m20", "m119")
	component.Click("button", "Older")
	component.Until(`document.querySelectorAll("li").length > 120`) // with those of outbox.md
	component.Until(`!document.querySelector("button")`)
	for i := range 2 {
		function.Evaluate(nil, `page.older(page.client, document.getElementById("list"))`)
		shows(function, 50*(i+1), fmt.Sprint("m", 70-50*i), "m119")
	}
	f.say("live")
	shows(function, 101, "m20", "live")
	component.See("li:last-child", "live")
}

func (f *features) login(app browser.Tab) {
	app.See("p", "Nobody is logged in")
	for _, user := range []string{"ben", "cleo"} {
		app.Click("button", "Log in")
		app.See("p", "live")
		app.Click("button", "Log out "+user)
		app.See("p", "Nobody is logged in")
	}
	app.Evaluate(nil, `page.login((text) => said.push(text))`)
	app.Until(`said.includes("live")`)
	app.Evaluate(nil, `page.connect().then(() => true)`) // of tokens.md
	app.Evaluate(nil, `page.logout().then(() => true)`)
}

// outage writes while the edge is away: what is written is shown at once, and stored when it is back.
func (f *features) outage(edge *harness.Background, chat, outbox, reader browser.Tab) {
	chat.See("p", "live")
	write := func(tab browser.Tab, text string) {
		tab.Fill("Message", text)
		tab.Press("Enter")
	}
	write(reader, "may not")
	reader.Click("button", "permission_denied: again")
	reader.See("button", "permission_denied: again")
	must(f.T, syscall.Kill(-edge.Cmd.Process.Pid, syscall.SIGKILL))
	<-edge.Exited
	write(chat, "in the outage")
	chat.See("p", "in the outage …")
	outbox.Evaluate(nil, `void page.send(page.client, "kept")`)
	f.edge()
	chat.See("p", "in the outage ✓")
	outbox.Until(`localStorage.getItem("outbox") === "[]"`)
	chat.Until(`document.body.innerText.split("in the outage").length === 2 && document.body.innerText.split('"kept"').length === 2`)
}

// streaming reloads the page in the middle of an answer.
func (f *features) streaming(p *Page, tab browser.Tab) {
	for id, command := range []string{"node answer.mjs ", "python3 answer.py "} {
		tab.Evaluate(nil, `void (location.hash = %s)`, id)
		tab.Reload()
		program := p.program(command + fmt.Sprint(id))
		tab.See("p", "An answer")
		must(f.T, syscall.Kill(program.Cmd.Process.Pid, syscall.SIGSTOP))
		tab.Reload()
		tab.See("p", "An answer")
		must(f.T, syscall.Kill(program.Cmd.Process.Pid, syscall.SIGCONT))
		tab.See("p", "An answer comes word by word, and nothing is missing.")
		if code := program.ExitCode(); code != 0 {
			f.T.Errorf("%s: exit code %d\n%s", command, code, program.Out)
		}
	}
}
