package clientdriver

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/writing-a-client.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The document names each command, event, feature and field in its tables.
func TestDocument(t *testing.T) {
	var tables strings.Builder
	for line := range strings.Lines(document(t)) {
		if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "Each has ") {
			tables.WriteString(line)
		}
	}
	names := map[string][]string{"command": Commands, "event": Events, "feature": Features}
	for _, v := range []any{Command{}, Options{}, Report{}, Token{}, Member{}, Error{}} {
		of := reflect.TypeOf(v)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			if name == "" {
				t.Errorf("%v.%s has no name in JSON", of, of.Field(i).Name)
			}
			if name != "-" {
				names["field of "+of.Name()] = append(names["field of "+of.Name()], name)
			}
		}
	}
	for what, list := range names {
		for _, name := range list {
			if !strings.Contains(tables.String(), "`"+name+"`") {
				t.Errorf("the tables do not name the %s %s", what, name)
			}
		}
	}
}

// The exchange that the document shows is of commands and reports.
func TestDocumentExchange(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^([<>]) (\{.*\})$`).FindAllStringSubmatch(document(t), -1)
	if len(lines) < 10 {
		t.Fatalf("the document shows %d lines", len(lines))
	}
	for _, line := range lines {
		if line[1] == "<" {
			if _, err := ParseReport([]byte(line[2])); err != nil {
				t.Errorf("%s: %v", line[2], err)
			}
		}
		var v any = new(Command)
		if line[1] == "<" {
			v = new(Report)
		}
		strict := json.NewDecoder(bytes.NewBufferString(line[2]))
		strict.DisallowUnknownFields()
		if err := strict.Decode(v); err != nil {
			t.Errorf("%s: %v", line[2], err)
		}
		again, err := json.Marshal(v)
		if err != nil || len(again) != len(line[2]) {
			t.Errorf("%s is written as %s (%v)", line[2], again, err)
		}
	}
}

func TestParseReport(t *testing.T) {
	for line, want := range map[string]string{
		`{"event":"hello","transports":["websocket"],"lacks":["moves"]}`: "",
		`{"event":"answer","client":"c","id":1,"something":"new"}`:       "",
		`{"event":"message","client":"c","sub":"s"}`:                     "",
		`{"event":"moved","client":"c","away":1.5}`:                      "",

		`hello`:                                  "invalid character",
		`"hello"`:                                "cannot unmarshal",
		``:                                       "unexpected end",
		`{}`:                                     "names no event",
		`{"id":1}{`:                              "invalid character",
		`{"event":"hello"}`:                      "names no transports",
		`{"event":"hello","transports":["tcp"]}`: `no transport "tcp"`,
		`{"event":"hello","transports":["websocket"],"lacks":["all"]}`: `no feature "all"`,
		`{"event":"answered","client":"c"}`:                            `no event "answered"`,
		`{"event":"moved"}`:                                            "names no client",
		`{"event":"answer","client":"c"}`:                              "no id",
		`{"event":"message","client":"c","payload":"!"}`:               "illegal base64",
		`{"event":"message","client":"c"}`:                             "names no subscription",
		`{"event":"presenceChange","client":"c"}`:                      "names no presence",
		`{"event":"presenceEnded","client":"c"}`:                       "names no presence",
		`{"event":"membershipEnded","client":"c"}`:                     "names no membership",
	} {
		_, err := ParseReport([]byte(line))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
}
