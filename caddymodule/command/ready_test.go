package command

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReady(t *testing.T) {
	answers := map[string]func(http.ResponseWriter){
		"/ready":   func(w http.ResponseWriter) { fmt.Fprint(w, "ready") },
		"/warning": func(w http.ResponseWriter) { fmt.Fprint(w, "ready\nthe disk has no room for changes of tokens") },
		"/drains": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"code":"draining","detail":"the edge drains"}`)
		},
		"/page":  func(w http.ResponseWriter) { fmt.Fprint(w, "<html>ready</html>") },
		"/moved": func(w http.ResponseWriter) { w.Header().Set("Location", "/ready"); w.WriteHeader(http.StatusFound) },
		"/long":  func(w http.ResponseWriter) { fmt.Fprint(w, "ready\n", strings.Repeat("x", 2*maxReadyAnswer)) },
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answers[r.URL.Path](w) })
	server, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer server.Close()
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.crt")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})
	if err := os.WriteFile(ca, authority, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		url      string
		code     int
		out, err string // parts
	}{
		{server.URL + "/ready", 0, "ready\n", ""},
		{secure.URL + "/ready --ca " + ca, 0, "ready\n", ""},
		{secure.URL + "/ready", 1, "", "certificate"},
		{secure.URL + "/ready --ca ready_test.go", 2, "", "--ca: the file holds no certificate"},
		{server.URL + "/ready --ca " + ca, 2, "", "--ca: needs a --url with https://"},
		{server.URL + "/warning", 0, "ready\nthe disk has no room for changes of tokens\n", ""},
		{server.URL + "/drains", 1, "", "the edge drains (503 draining)"},
		{server.URL + "/page", 1, "", "is this the path of pubsub_ready?"},
		{server.URL + "/moved", 1, "", "the answer was 302 Found; is this the path of pubsub_ready?"},
		{server.URL + "/long", 0, "ready", ""},
		{"http://127.0.0.1:1/ready", 1, "", "no answer from 127.0.0.1:1"},
		{"unix//run/caddy.sock", 2, "", "--url: must be like"},
		{"http://user@localhost/ready", 2, "", "--url: must be like"},
	} {
		got := run(t.Context(), "", strings.Fields("ready --url "+c.url)...)
		if got.code != c.code || !strings.Contains(got.out, c.out) || !strings.Contains(got.err, c.err) {
			t.Errorf("%s: got exit code %d, %.100q and %.200q; want %d, %q and %q", c.url, got.code, got.out, got.err, c.code, c.out, c.err)
		}
		if len(got.out) > maxReadyAnswer+100 {
			t.Errorf("%s: printed %d bytes", c.url, len(got.out))
		}
	}
}
