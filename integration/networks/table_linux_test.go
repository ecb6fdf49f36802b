package networks

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// table is what came of all cases, in Markdown, as docs/networks.md has it.
func (r *results) table(cases []breakage, kinds []kind) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	text.WriteString("| case | mark |")
	for _, k := range kinds {
		fmt.Fprintf(&text, " %v |", k)
	}
	text.WriteString("\n|---|---|" + strings.Repeat("---|", len(kinds)) + "\n")
	for _, b := range cases {
		fmt.Fprintf(&text, "| %s | %s |", b.title, b.mark())
		for _, k := range kinds {
			fmt.Fprintf(&text, " %s |", b.cell(k, r.all[b.name][k]))
		}
		text.WriteString("\n")
	}
	return text.String()
}

// mark says what is asked for.
func (b breakage) mark() string {
	var list []string
	switch {
	case b.unmarked:
		list = append(list, "–")
	case b.silent:
		list = append(list, "within `keepAlive` and 4 s")
	case b.within != 0 && b.overWebSocket != 0:
		list = append(list, fmt.Sprintf("%.0f s, over WebSocket %.0f s", b.within.Seconds(), b.overWebSocket.Seconds()))
	case b.within != 0:
		list = append(list, fmt.Sprintf("%.0f s", b.within.Seconds()))
	case b.overWebSocket != 0:
		list = append(list, fmt.Sprintf("over WebSocket %.0f s", b.overWebSocket.Seconds()))
	}
	switch {
	case b.none:
		list = append(list, "none missed, no `disconnected`")
	case b.nothingMissed != nil:
		list = append(list, "over WebTransport none missed")
	case b.stays:
		list = append(list, "no change of the connection")
	}
	if b.over != "" {
		list = append(list, "then over "+b.over)
	}
	return strings.Join(list, "; ")
}

// cell is what clients of a kind saw: median and worst of the time until messages came
// again, or of the longest silence where the connection is to stay.
func (b breakage) cell(k kind, all []outcome) string {
	if len(all) == 0 {
		return "–"
	}
	missed, late, lost, never, changed, bad := 0, 0, 0, 0, 0, 0
	var over []string
	for _, o := range all {
		missed, late = max(missed, o.missed), max(late, o.late)
		for _, is := range []struct {
			so bool
			n  *int
		}{{o.lost, &lost}, {o.never, &never}, {o.switches > 0, &changed}, {len(b.misses(k, o)) > 0, &bad}} {
			if is.so {
				*is.n++
			}
		}
		if o.over != k.transport && !slices.Contains(over, o.over) {
			over = append(over, o.over)
		}
	}
	what := func(o outcome) time.Duration { return o.back }
	text := ""
	if b.none || b.stays {
		what, text = func(o outcome) time.Duration { return o.silence }, "silent for "
	}
	median, worst := middle(all, what)
	if never < len(all) {
		text += seconds(median)
	}
	if len(all) > 1 && never == 0 {
		text += " / " + seconds(worst)
	}
	if missed > 0 {
		text += fmt.Sprintf(", %d missed", missed)
	}
	if late > 0 {
		text += fmt.Sprintf(", %d late", late)
	}
	for _, is := range []struct {
		n    int
		name string
	}{{never, "never"}, {lost, "`disconnected`"}, {changed, "changed"}} {
		if is.n > 0 && (b.none || b.stays || is.name == "never") {
			text += fmt.Sprintf(", %s %d of %d", is.name, is.n, len(all))
		}
	}
	if len(over) > 0 {
		text += ", then over " + strings.Join(over, " or ")
	}
	text = strings.TrimPrefix(text, ", ")
	if bad > 0 {
		text = fmt.Sprintf("**%s**, %d of %d miss the mark", text, bad, len(all))
	}
	return text
}
