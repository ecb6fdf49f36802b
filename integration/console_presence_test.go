package integration

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// consolePresenceCaddyfile has a console, and the presences rooms and desks.
var consolePresenceCaddyfile = strings.Replace(consoleCaddyfile, "hook audit {", `presence rooms {
			channels room.#
			members 500
		}
		presence desks {
			channels desk.#
		}
		hook audit {`, 1)

// join makes a subject a member of channels of a tenant, as long as its connection is open.
func (e *edge) join(subject, tenant string, channels ...string) *socket {
	e.t.Helper()
	s := e.dial(e.issueAs(e.master, subjectRequest(subject, allowAll(strings.TrimPrefix(tenant, "paint.")))).Token)
	for _, channel := range channels {
		s.sendLine("JOIN:" + tenant + ":" + channel)
		s.expectText("OK:JOIN:" + tenant + ":" + channel)
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
	e := startEdge(t, consolePresenceCaddyfile)
	bob := e.console().login("bob", bobPassword) // a viewer
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
		bob.get("presences/members?tenant=paint.a"+query).decode(t, http.StatusOK, &p)
		return p
	}
	if p := members(""); len(p.Members) != 0 {
		t.Errorf("at first there are %v", p)
	}
	e.admin("presence").want(0, "PRESENCE  TENANT  MEMBERS\n", "").lines(1)
	e.join("ann & co", "paint.a", "room.a")
	eve := e.join("eve", "paint.a", append(sampleRooms(200), "room.a", "desk.1")...)
	e.join("eve", "paint.b", "room.a")

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
	bob.get("presences?limit=2").decode(t, http.StatusOK, &list)
	if got := fmt.Sprint(list); got != "{[{desks paint.a 1} {rooms paint.a 202}] rooms:paint.a [{rooms 2 203 500} {desks 1 1 10000}]}" {
		t.Errorf("the presences are %s", got)
	}
	bob.get("presences?limit=0").problem(t, http.StatusBadRequest, "invalid_body")
	bob.get("presences/members").problem(t, http.StatusBadRequest, "invalid_body")
	bob.get("presences/members?tenant=paint.a&pattern=a..b").problem(t, http.StatusBadRequest, "invalid_body")
	e.console().get("presences/members?tenant=paint.a").problem(t, http.StatusUnauthorized, "no_session")

	e.admin("presence").want(0, "rooms     paint.b  1", "").lines(4)
	e.admin("presence", "--tenant", "paint.a").want(0, "CHANNEL     SUBJECT   SINCE", "").want(0, "room.a      ann & co  20", "").want(0, `Z  {"plan":"pro"}`, "").lines(204)
	e.admin("presence", "--tenant", "paint.a", "--subject", "eve", "room.*").want(0, "room.a   eve", "").lines(2)
	e.admin("presence", "--tenant", "paint.nobody").lines(1)
	var all page
	if e.admin("presence", "--tenant", "paint.a", "room.#", "--json").decode(&all); len(all.Members) != 202 || all.Total.Members != 202 || all.Members[0].Info.Plan != "pro" {
		t.Errorf("as JSON there are %d members of %+v", len(all.Members), all.Total)
	}
	e.admin("presence", "--json").want(0, `{"presence":"desks","tenant":"paint.a","members":1}`, "")
	e.admin("presence", "--tenant", "paint.a", "a..b").want(1, "", "pattern: ")

	eve.sendLine("LEAVE:paint.a:desk.1")
	eve.expectText("OK:LEAVE:paint.a:desk.1")
	e.admin("presence", "--tenant", "paint.a", "desk.#").lines(1)
}

// Without a presence there is nothing to see, which the command says.
func TestOperatorsWithoutPresence(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consoleCaddyfile)
	e.admin("presence").want(1, "", "this edge has no presence (404 no_presences)")
	e.admin("presence", "--tenant", "paint.a").want(1, "", "no_presences")
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"page": func(_ *testing.T, _ *edge, p tab) {
			p.expected = regexp.MustCompile("the server responded with a status of 404")
			p.signIn("bob", bobPassword)
			p.goTo("Presence")
			p.see("main", "No presence is configured at this edge")
			p.until("document.querySelector('main [role=alert]').innerText === ''")
		},
	})
}

// Who is present is seen on the page, as text.
func TestConsolePresence(t *testing.T) {
	t.Parallel()
	e := startEdge(t, consolePresenceCaddyfile)
	const hostile = `<img src=x onerror=document.title='hit'>"'{{x}}`
	request := subjectRequest(hostile, allowAll("a"))
	request["info"] = object{"name": `<script>document.title='hit'</script>`}
	s := e.dial(e.issueAs(e.master, request).Token)
	s.sendLine("JOIN:paint.a:room.1")
	s.expectText("OK:JOIN:paint.a:room.1")
	go stayConnected(s)
	go stayConnected(e.join("many", "paint.b", sampleRooms(150)...))
	inConsole(t, e, map[string]func(*testing.T, *edge, tab){
		"page": func(t *testing.T, e *edge, p tab) {
			const rows = `[...document.querySelectorAll("table[aria-label='Members'] tbody tr")]`
			p.signIn("bob", bobPassword)
			p.goTo("Presence")
			p.see("article[aria-label='Presence rooms']", "151")
			p.see("table[aria-label='Where somebody is present']", "150 of 500")
			p.click("link", "Show who is present in paint.a")
			p.see("main", "1 member in 1 channel of # in paint.a")
			p.see("table[aria-label='Members']", hostile)
			p.see("table[aria-label='Members']", `{"name":"<script>document.title='hit'</script>"}`)
			p.until("location.hash === '#/presence?tenant=paint.a'")
			late := e.join("late", "paint.a", "room.2") // the list follows by itself
			p.until(rows+".length === 2 && "+rows+"[1].innerText.includes(%s)", "late")
			late.close()

			p.click("link", "Show who is present in paint.b")
			p.see("main", "150 members in 150 channels of # in paint.b")
			p.until(rows + ".length === 100")
			p.click("button", "Next page")
			p.until(rows + ".length === 50")
			p.fill("Pattern", "room.z.007")
			p.click("button", "Show")
			p.see("main", "1 member in 1 channel of room.z.007 in paint.b")
			p.fill("Subject", "nobody")
			p.click("button", "Show")
			p.see("main", "This subject is not present there now.")
			p.until("location.hash === '#/presence?tenant=paint.b&pattern=room.z.007&subject=nobody'")
			p.expected = regexp.MustCompile("the server responded with a status of 400")
			p.fill("Pattern", "a..b")
			p.click("button", "Show")
			p.see("main [role=alert]", "Pattern: ")
			p.fill("Tenant", "")
			p.click("button", "Show")
			p.see("main", "A tenant has 1 to 128")

			p.fill("Tenant", "paint.a")
			p.fill("Pattern", "")
			p.fill("Subject", "")
			p.click("button", "Show")
			p.see("table[aria-label='Members']", hostile)
			p.until("!document.title.includes('hit') && !document.querySelector('main script, main img')")
			p.click("link", "Connections of "+hostile)
			p.see("h1", "Connections")
			p.see("table[aria-label='Connections']", hostile[:30])
		},
	})
}
