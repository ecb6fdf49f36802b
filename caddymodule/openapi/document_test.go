package openapi

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/testcheck"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

type object = map[string]any

// load is the document as a client gets it.
func load(t *testing.T) object {
	t.Helper()
	rec := httptest.NewRecorder()
	Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, DocumentPath, nil))
	if got := rec.Header().Get("Content-Type"); rec.Code != http.StatusOK || got != "application/json" {
		t.Fatalf("got %d %s", rec.Code, got)
	}
	var doc object
	must(t, json.Unmarshal(rec.Body.Bytes(), &doc))
	return doc
}

// at follows the keys down from v, and references on the way.
func at(t *testing.T, doc object, v any, keys ...string) any {
	t.Helper()
	for {
		node, ok := v.(object)
		if ref, is := node["$ref"].(string); ok && is {
			path, local := strings.CutPrefix(ref, "#/")
			if !local {
				t.Fatalf("%s is no reference into the document", ref)
			}
			v = at(t, doc, doc, strings.Split(path, "/")...)
			continue
		}
		if len(keys) == 0 {
			return v
		}
		if v, ok = node[keys[0]]; !ok {
			t.Fatalf("nothing at %s", strings.Join(keys, "/"))
		}
		keys = keys[1:]
	}
}

func TestDocument(t *testing.T) {
	doc := load(t)
	if got, _ := doc["openapi"].(string); !strings.HasPrefix(got, "3.1.") {
		t.Errorf("openapi = %q, want 3.1", got)
	}
	servers, _ := doc["servers"].([]any)
	if len(servers) != 1 || at(t, doc, servers[0], "url") != "/" {
		t.Errorf("servers = %v, want / alone", servers)
	}
	if got := at(t, doc, doc, "components", "securitySchemes", "masterToken", "scheme"); got != "bearer" {
		t.Errorf("the scheme of masterToken = %v, want bearer", got)
	}
	if security, _ := at(t, doc, doc, "paths", "/ping", "get", "security").([]any); len(security) != 0 {
		t.Errorf("/ping asks for authorization: %v", security)
	}
}

// Every reference resolves, and every component is used by one.
func TestReferences(t *testing.T) {
	doc := load(t)
	used := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, is := v["$ref"].(string); is {
				used[ref] = true
				at(t, doc, v)
			}
			for _, child := range v {
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(doc)
	if len(used) == 0 {
		t.Fatal("no reference found")
	}
	for _, kind := range []string{"schemas", "responses", "headers"} {
		components, _ := at(t, doc, doc, "components", kind).(object)
		for name := range components {
			if ref := "#/components/" + kind + "/" + name; !used[ref] {
				t.Errorf("%s is used nowhere", ref)
			}
		}
	}
}

// The document has the routes of package rest with their methods, and for each
// the statuses and codes with which it refuses.
func TestRoutes(t *testing.T) {
	doc := load(t)
	want := map[string][]string{"GET /ping": {"200"}}
	for _, route := range rest.Routes {
		answers := []string{"200"}
		for _, code := range route.Refusals {
			answers = append(answers, strconv.Itoa(rest.Status[code])+" "+string(code))
		}
		slices.Sort(answers)
		want[route.Methods[0]+" "+route.Path] = answers
	}

	got := map[string][]string{}
	paths, _ := doc["paths"].(object)
	for path, operations := range paths {
		operations, _ := operations.(object)
		for method, operation := range operations {
			var answers []string
			responses, _ := at(t, doc, operation, "responses").(object)
			for status, response := range responses {
				if status == "200" {
					answers = append(answers, status)
					continue
				}
				codes, _ := at(t, doc, response, "content", "application/problem+json", "schema", "properties", "code", "enum").([]any)
				for _, code := range codes {
					code, _ := code.(string)
					answers = append(answers, status+" "+code)
				}
			}
			slices.Sort(answers)
			got[strings.ToUpper(method)+" "+path] = answers
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// The schemas have the keys of the Go types, and call required what is.
func TestSchemas(t *testing.T) {
	doc := load(t)
	for _, test := range []struct {
		schema string
		of     any
		extra  []string // keys that another schema adds
	}{
		{"GetTokenRequest", tokenstore.IssueRequest{}, nil},
		{"Right", tokenstore.Right{}, []string{"expires_at", "expires_in"}},
		{"TenantGrant", tokenstore.TenantGrant{}, nil},
		{"TokenInfo", tokenstore.AccessInfo{}, nil},
		{"Problem", rest.Problem{}, nil},
	} {
		t.Run(test.schema, func(t *testing.T) {
			schema := at(t, doc, doc, "components", "schemas", test.schema)
			properties, _ := at(t, doc, schema, "properties").(object)
			keys := append(slices.Collect(maps.Keys(properties)), test.extra...)
			var want, required []string
			for field := range reflect.TypeOf(test.of).Fields() {
				if !field.IsExported() {
					continue
				}
				name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
				want = append(want, name)
				if options == "" {
					required = append(required, name)
				}
			}
			slices.Sort(keys)
			slices.Sort(want)
			if !slices.Equal(keys, want) {
				t.Errorf("keys %v, want %v", keys, want)
			}
			documented := strs(at(t, doc, schema, "required"))
			slices.Sort(documented)
			slices.Sort(required)
			if !slices.Equal(documented, required) {
				t.Errorf("required %v, want %v", documented, required)
			}
		})
	}
}

func strs(v any) (out []string) {
	list, _ := v.([]any)
	for _, s := range list {
		s, _ := s.(string)
		out = append(out, s)
	}
	return out
}

var must = testcheck.Must

// The document's expressions for rules and the grammar agree, but for the length.
func TestRulePatterns(t *testing.T) {
	doc := load(t)
	random := rand.New(rand.NewPCG(12, 7))
	pieces := []string{".", ".", "a", "B-9", "_~@", "*", "#", ">", "?", "(", ")", "|", "(eu|us*)", "(a)", "a.b", "é", " ", "a.a.a.a.a.a.a.a.a.a"}
	for schema, kind := range map[string]pattern.RuleKind{"PublishRule": pattern.PublishRule, "SubscribeRule": pattern.SubscribeRule} {
		text, _ := at(t, doc, doc, "components", "schemas", schema, "pattern").(string)
		expression := regexp.MustCompile(text)
		legal := 0
		check := func(rule string) {
			t.Helper()
			_, err := pattern.ParseRule(rule, kind)
			if got := expression.MatchString(rule); got != (err == nil) {
				t.Errorf("%s: %q matches: %v, by the grammar: %v", schema, rule, got, err)
			}
			if err == nil {
				legal++
			}
		}
		for range 20_000 {
			var b strings.Builder
			for range 1 + random.IntN(6) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
			check(b.String())
		}
		variants := strings.Repeat("a|", 15)
		for _, rule := range []string{"", "(*)", "(" + variants + "a)", "(" + variants + "a|a)", strings.Repeat("a.", 31) + "a", strings.Repeat("a.", 32) + "a", "?.?", "x?"} {
			check(rule)
		}
		if legal < 1000 {
			t.Errorf("%s: %d rules were legal only", schema, legal)
		}
	}
}
