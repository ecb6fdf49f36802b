package console

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/millrace/millrace/integration/browser"
	"github.com/millrace/millrace/integration/harness"
)

// consolePresenceCaddyfile has a console, and the presences rooms and desks.
var consolePresenceCaddyfile = strings.Replace(harness.ConsoleCaddyfile, "hook audit {", `presence rooms {
			channels room.#
			members 500
		}
		presence desks {
			channels desk.#
		}
		hook audit {`, 1)

// join makes a subject a member of channels of a tenant, as long as its connection is open.
func join(e *harness.Edge, subject, tenant string, channels ...string) *harness.Socket {
	e.T.Helper()
	s := e.Dial(e.IssueAs(e.Master, harness.SubjectRequest(subject, harness.AllowAll(strings.TrimPrefix(tenant, "paint.")))).Token)
	for _, channel := range channels {
		s.SendLine("JOIN:" + tenant + ":" + channel)
		s.ExpectText("OK:JOIN:" + tenant + ":" + channel)
	}
	return s
}

// sampleRooms are n channels.
func sampleRooms(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("room.z.%03d", i))
	}
	return list
}

// The calls about presence, as the page and the command line make them.
func TestOperatorsSeePresence(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, consolePresenceCaddyfile)
	bob := e.Console().Login("bob", harness.BobPassword) // a viewer
	type page struct {
		Members []struct {
			Channel, Subject, Since string
			Info                    struct{ Plan string }
		}
		Next  string `json:"next_cursor"`
		Total struct{ Members, Channels int }
	}
	members := func(query string) (p page) {
		t.Helper()
		bob.Get("presences/members?tenant=paint.a"+query).Decode(t, http.StatusOK, &p)
		return p
	}
	if p := members(""); len(p.Members) != 0 {
		t.Errorf("at first there are %v", p)
	}
	e.AdminCLI("presence").Want(0, "PRESENCE  TENANT  MEMBERS\n", "").Lines(1)
	join(e, "ann & co", "paint.a", "room.a")
	eve := join(e, "eve", "paint.a", append(sampleRooms(200), "room.a", "desk.1")...)
	join(e, "eve", "paint.b", "room.a")

	if p := members("&pattern=room.a"); len(p.Members) != 2 || p.Members[0].Subject != "ann & co" || p.Members[0].Info.Plan != "pro" ||
		p.Members[0].Since == "" || p.Members[1].Subject != "eve" || p.Total.Members != 2 || p.Total.Channels != 1 || p.Next != "" {
		t.Errorf("in room.a are %+v", p)
	}
	if p := members("&subject=" + url.QueryEscape("ann & co")); len(p.Members) != 1 || p.Members[0].Channel != "room.a" || p.Total.Members != 203 {
		t.Errorf("ann is in %+v", p)
	}
	seen := map[string]bool{}
	for next, pages := "", 0; pages == 0 || next != ""; pages++ {
		query := "&limit=100"
		if next != "" {
			query += "&cursor=" + next
		}
		p := members(query)
		for _, m := range p.Members {
			seen[m.Channel+" "+m.Subject] = true
		}
		if next = p.Next; p.Total.Members != 203 || p.Total.Channels != 202 || len(p.Members) != min(100, 203-100*pages) {
			t.Fatalf("page %d has %d members of %+v", pages, len(p.Members), p.Total)
		}
	}
	if len(seen) != 203 {
		t.Errorf("%d members on all pages", len(seen))
	}
	var list struct {
		Presences []struct {
			Presence, Tenant string
			Members          int
		}
		Next   string `json:"next_cursor"`
		Totals []struct {
			Presence         string
			Tenants, Members int
			Max              int `json:"max_members"`
		}
	}
	bob.Get("presences?limit=2").Decode(t, http.StatusOK, &list)
	if got := fmt.Sprint(list); got != "{[{desks paint.a 1} {rooms paint.a 202}] rooms:paint.a [{rooms 2 203 500} {desks 1 1 10000}]}" {
		t.Errorf("the presences are %s", got)
	}
	bob.Get("presences?limit=0").Problem(t, http.StatusBadRequest, "invalid_body")
	bob.Get("presences/members").Problem(t, http.StatusBadRequest, "invalid_body")
	bob.Get("presences/members?tenant=paint.a&pattern=a..b").Problem(t, http.StatusBadRequest, "invalid_body")
	e.Console().Get("presences/members?tenant=paint.a").Problem(t, http.StatusUnauthorized, "no_session")

	e.AdminCLI("presence").Want(0, "rooms     paint.b  1", "").Lines(4)
	e.AdminCLI("presence", "--tenant", "paint.a").Want(0, "CHANNEL     SUBJECT   SINCE", "").Want(0, "room.a      ann & co  20", "").Want(0, `Z  {"plan":"pro"}`, "").Lines(204)
	e.AdminCLI("presence", "--tenant", "paint.a", "--subject", "eve", "room.*").Want(0, "room.a   eve", "").Lines(2)
	e.AdminCLI("presence", "--tenant", "paint.nobody").Lines(1)
	var all page
	if e.AdminCLI("presence", "--tenant", "paint.a", "room.#", "--json").Decode(&all); len(all.Members) != 202 || all.Total.Members != 202 || all.Members[0].Info.Plan != "pro" {
		t.Errorf("as JSON there are %d members of %+v", len(all.Members), all.Total)
	}
	e.AdminCLI("presence", "--json").Want(0, `{"presence":"desks","tenant":"paint.a","members":1}`, "")
	e.AdminCLI("presence", "--tenant", "paint.a", "a..b").Want(1, "", "pattern: ")

	eve.SendLine("LEAVE:paint.a:desk.1")
	eve.ExpectText("OK:LEAVE:paint.a:desk.1")
	e.AdminCLI("presence", "--tenant", "paint.a", "desk.#").Lines(1)
}

// Without a presence there is nothing to see, which the command says.
func TestOperatorsWithoutPresence(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, harness.ConsoleCaddyfile)
	e.AdminCLI("presence").Want(1, "", "this edge has no presence (404 no_presences)")
	e.AdminCLI("presence", "--tenant", "paint.a").Want(1, "", "no_presences")
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"page": func(_ *testing.T, _ *harness.Edge, p browser.Tab) {
			p.Expected = regexp.MustCompile("the server responded with a status of 404")
			p.SignIn("bob", harness.BobPassword)
			p.GoTo("Presence")
			p.See("main", "No presence is configured at this edge")
			p.Until("document.querySelector('main [role=alert]').innerText === ''")
		},
	})
}

// Who is present is seen on the page, as text.
func TestConsolePresence(t *testing.T) {
	t.Parallel()
	e := harness.StartEdge(t, consolePresenceCaddyfile)
	const hostile = `<img src=x onerror=document.title='hit'>"'{{x}}`
	request := harness.SubjectRequest(hostile, harness.AllowAll("a"))
	request["info"] = harness.Object{"name": `<script>document.title='hit'</script>`}
	s := e.Dial(e.IssueAs(e.Master, request).Token)
	s.SendLine("JOIN:paint.a:room.1")
	s.ExpectText("OK:JOIN:paint.a:room.1")
	go stayConnected(s)
	go stayConnected(join(e, "many", "paint.b", sampleRooms(150)...))
	browser.InConsole(t, e, map[string]func(*testing.T, *harness.Edge, browser.Tab){
		"page": func(t *testing.T, e *harness.Edge, p browser.Tab) {
			const rows = `[...document.querySelectorAll("table[aria-label='Members'] tbody tr")]`
			p.SignIn("bob", harness.BobPassword)
			p.GoTo("Presence")
			p.See("article[aria-label='Presence rooms']", "151")
			p.See("table[aria-label='Where somebody is present']", "150 of 500")
			p.Click("link", "Show who is present in paint.a")
			p.See("main", "1 member in 1 channel of # in paint.a")
			p.See("table[aria-label='Members']", hostile)
			p.See("table[aria-label='Members']", `{"name":"<script>document.title='hit'</script>"}`)
			p.Until("location.hash === '#/presence?tenant=paint.a'")
			late := join(e, "late", "paint.a", "room.2") // the list follows by itself
			p.Until(rows+".length === 2 && "+rows+"[1].innerText.includes(%s)", "late")
			late.Close()

			p.Click("link", "Show who is present in paint.b")
			p.See("main", "150 members in 150 channels of # in paint.b")
			p.Until(rows + ".length === 100")
			p.Click("button", "Next page")
			p.Until(rows + ".length === 50")
			p.Fill("Pattern", "room.z.007")
			p.Click("button", "Show")
			p.See("main", "1 member in 1 channel of room.z.007 in paint.b")
			p.Fill("Subject", "nobody")
			p.Click("button", "Show")
			p.See("main", "This subject is not present there now.")
			p.Until("location.hash === '#/presence?tenant=paint.b&pattern=room.z.007&subject=nobody'")
			p.Expected = regexp.MustCompile("the server responded with a status of 400")
			p.Fill("Pattern", "a..b")
			p.Click("button", "Show")
			p.See("main [role=alert]", "Pattern: ")
			p.Fill("Tenant", "")
			p.Click("button", "Show")
			p.See("main", "A tenant has 1 to 128")

			p.Fill("Tenant", "paint.a")
			p.Fill("Pattern", "")
			p.Fill("Subject", "")
			p.Click("button", "Show")
			p.See("table[aria-label='Members']", hostile)
			p.Until("!document.title.includes('hit') && !document.querySelector('main script, main img')")
			p.Click("link", "Connections of "+hostile)
			p.See("h1", "Connections")
			p.See("table[aria-label='Connections']", hostile[:30])
		},
	})
}
