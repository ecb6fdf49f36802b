package app

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	dashboardFile = "../../docs/grafana/millrace.json"
	alertsFile    = "../../deploy/chart/millrace/files/millrace.rules.yaml"
	metricsPage   = "../../docs/reference/metrics.md"
	alertsPage    = "../../docs/operations.md"
)

// Every metric stands in docs/reference/metrics.md, with its type and its labels, and in
// the dashboard, and neither knows another one.
func TestMetricsAreDocumented(t *testing.T) {
	families := gatherAll(t)
	types := map[string]string{}
	labels := map[string][]string{}
	for _, f := range families {
		types[f.GetName()] = strings.ToLower(f.GetType().String())
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels[f.GetName()] = append(labels[f.GetName()], l.GetName())
		}
	}
	if len(types) < 19 {
		t.Fatalf("%d metrics", len(types))
	}

	doc := read(t, metricsPage)
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(millrace_\\w+)` \\| (\\w+) \\|([^|]*)\\|").FindAllStringSubmatch(doc, -1) {
		name := row[1]
		rows[name] = true
		documented := regexp.MustCompile(`\w+`).FindAllString(row[3], -1)
		slices.Sort(documented)
		if types[name] != row[2] || !slices.Equal(labels[name], documented) {
			t.Errorf("docs/reference/metrics.md: %s is a %s with the labels %q, want %q, %q", name, row[2], documented, types[name], labels[name])
		}
	}
	for where, used := range map[string]map[string]bool{
		"the table of docs/reference/metrics.md": rows,
		dashboardFile:                            names(strings.Join(expressions(t), "\n")),
		metricsPage:                              names(doc),
		alertsPage:                               names(read(t, alertsPage)),
		alertsFile:                               names(read(t, alertsFile)),
	} {
		for name := range types {
			if !used[name] && where != alertsFile && where != alertsPage {
				t.Errorf("%s does not have %s", where, name)
			}
		}
		for name := range used {
			if types[name] == "" {
				t.Errorf("%s has %s, which does not exist", where, name)
			}
		}
	}
}

// The labels and values that the dashboard and the alerts select by exist.
func TestMetricsAreSelected(t *testing.T) {
	families := gatherAll(t)
	known := map[string]bool{"job": true, "instance": true, "le": true}
	values := map[string]bool{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				known[l.GetName()] = true
				values[l.GetName()+"="+l.GetValue()] = true
			}
		}
	}
	texts := append(expressions(t), read(t, metricsPage), read(t, alertsPage), read(t, alertsFile))
	for _, text := range texts {
		for _, by := range regexp.MustCompile(`by \(([\w, ]+)\)`).FindAllStringSubmatch(text, -1) {
			for _, label := range strings.Split(by[1], ", ") {
				if !known[label] {
					t.Errorf("no metric has the label %s:\n%s", label, text)
				}
			}
		}
		for _, m := range regexp.MustCompile(`(\w+)!?=~?"([^"$]+)"`).FindAllStringSubmatch(text, -1) {
			for _, value := range strings.Split(strings.ReplaceAll(m[2], `\|`, "|"), "|") {
				if m[1] != "job" && !values[m[1]+"="+value] {
					t.Errorf("no metric has %s=%q", m[1], value)
				}
			}
		}
	}
}

// Grafana can import the dashboard: panels with numbers of their own, that do not
// overlap, and ask the data source that the user chooses.
func TestDashboard(t *testing.T) {
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion == 0 {
		t.Errorf("the dashboard lacks its title, uid or schemaVersion")
	}
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" {
			t.Errorf("panel %d %q", p.ID, p.Title)
		}
		ids[p.ID] = true
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				if taken[at] != "" || at[0] >= 24 {
					t.Errorf("panel %q overlaps %q at %v", p.Title, taken[at], at)
				}
				taken[at] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Description == "" || p.Datasource.UID != "${datasource}" {
			t.Errorf("panel %q lacks targets, a description, or the chosen data source", p.Title)
		}
		for _, target := range p.Targets {
			if strings.Count(target.Expr, "(") != strings.Count(target.Expr, ")") || !strings.Contains(target.Expr, `{job=~"$job", instance=~"$instance"`) {
				t.Errorf("panel %q asks %s", p.Title, target.Expr)
			}
		}
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name+" "+v.Type)
	}
	if want := []string{"datasource datasource", "job query", "instance query"}; !slices.Equal(variables, want) {
		t.Errorf("got variables %q, want %q", variables, want)
	}
}

// dashboard is what the tests look at of Grafana's format.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct{ List []struct{ Name, Type string } }
	Panels        []struct {
		ID                       int
		Type, Title, Description string
		Datasource               struct{ UID string }
		GridPos                  struct{ X, Y, W, H int }
		Targets                  []struct{ Expr string }
	}
}

// expressions are the queries of the dashboard's panels.
func expressions(t *testing.T) (list []string) {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			list = append(list, target.Expr)
		}
	}
	return list
}

// Each alert stands in docs/operations.md, which has no other one.
func TestAlertsAreDocumented(t *testing.T) {
	find := func(pattern, text string) (found []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found = append(found, m[1])
		}
		slices.Sort(found)
		return found
	}
	alerts := find(`(?m)^ +- alert: (\w+)$`, read(t, alertsFile))
	described := find("(?m)^\\| `(Millrace\\w+)` \\|", read(t, alertsPage))
	if len(alerts) < 20 || !slices.Equal(alerts, described) {
		t.Errorf("the alerts\n%q\nin docs/operations.md\n%q", alerts, described)
	}
}

// names are the metrics that a text uses, histograms by their own name.
func names(text string) map[string]bool {
	found := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bmillrace_\w+`).FindAllString(text, -1) {
		for _, suffix := range []string{"_bucket", "_sum", "_count"} {
			name = strings.TrimSuffix(name, suffix)
		}
		found[name] = true
	}
	return found
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
