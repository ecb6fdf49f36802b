// Backend-go gives access tokens to the web examples, and serves them. The
// master token stays here: a browser gets a token for 15 minutes, with the
// grants that it needs.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/millrace/millrace/client"
)

const (
	listen = "localhost:3000"
	edge   = "http://localhost:8080" // of make dev
)

// policy lets pages load their own files, and connect to this backend and the edge.
var policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' " +
	edge + " " + strings.Replace(edge, "http", "ws", 1) + "; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func main() {
	admin, err := client.NewTokenAdmin(edge, os.Getenv("MILLRACE_MASTER_TOKEN"))
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) { giveToken(w, r, admin) })
	mux.Handle("GET /sdk/", http.StripPrefix("/sdk/", http.FileServer(http.Dir("sdk/js/dist"))))
	pages := http.FileServer(http.Dir("examples/web"))
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		pages.ServeHTTP(w, r)
	})
	log.Printf("open http://%s", listen)
	server := &http.Server{
		Addr:              listen,
		Handler:           http.NewCrossOriginProtection().Handler(mux), // other sites' pages get no token
		ReadHeaderTimeout: 10 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}

// giveToken answers with what the SDK's tokenProvider returns. The subject of the
// token is who it is for: what is published with it says so to all who ask, and the chat
// shows who is here. Who has none may only read the chat.
func giveToken(w http.ResponseWriter, r *http.Request, admin *client.TokenAdmin) {
	r.Body = http.MaxBytesReader(w, r.Body, 1000)
	// Your own login belongs here: it decides who gets a token, and for what, and knows
	// from the session who asks. Here it is whoever runs this machine, by any name.
	name := strings.TrimSpace(r.PostFormValue("name"))
	if len(name) > 128 || strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name) {
		http.Error(w, "a name has at most 128 bytes", http.StatusBadRequest)
		return
	}
	publish := []string{"cursors.*", "news.#"}
	if name != "" {
		publish = append(publish, "chat.*")
	}
	issued, err := admin.Issue(r.Context(), client.IssueRequest{
		CreatedBy: "backend-go",
		Subject:   name,
		ExpiresIn: 15 * time.Minute,
		Grants: []client.Grant{{
			Tenants: []string{"demo.room"}, Publish: publish, Subscribe: []string{"chat.*", "cursors.*", "news.#"},
			History: []string{"chat.*"}, Presence: []string{"chat.*"},
		}},
	})
	if err != nil {
		log.Print(err) // for us; the browser need not know
		http.Error(w, "no token can be had now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(issued) // what the edge has answered; if this fails, the page is gone
}
