package command

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/caddyserver/caddy/v2"
)

//go:embed dev_tour.txt
var tourText string

var tourTemplate = template.Must(template.New("dev_tour.txt").Parse(tourText))

// A tour is what dev prints: where the edge is, and the commands to try it, ready to be
// pasted.
type tour struct {
	*devEdge
	Self   string // how to call this program, quoted for a shell
	Master string // the new master token; empty: this start created none
	Access issued
}

func (t tour) print(w io.Writer) error {
	url, address := "", ""
	if t.httpsPort != devHTTPS {
		url = fmt.Sprintf(" --url wss://localhost:%d/ws", t.httpsPort)
	}
	if t.admin != caddy.DefaultAdminListen {
		address = " --address " + shellQuote(t.admin)
	}
	return tourTemplate.Execute(w, map[string]any{
		"Self": t.Self, "GoRun": strings.HasPrefix(t.Self, "go run"),
		"Master": t.Master, "Access": t.Access,
		"HTTPS": t.httpsPort, "HTTP": t.httpPort, "Admin": t.admin,
		"Dir": t.dir, "Log": t.logFile(), "Root": shellQuote(t.rootFile()),
		"Operator": devOperator, "Password": t.password,
		"URL": url, "Address": address,
	})
}
