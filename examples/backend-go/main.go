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
	for path, folder := range map[string]string{"/snippets/": "examples/snippets", "/sdk/": "sdk/js/dist"} {
		mux.Handle("GET "+path, http.StripPrefix(path, http.FileServer(http.Dir(folder))))
	}
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

// giveToken answers with what the SDK's tokenProvider returns. Your own login
// decides who gets a token, and for what; here it is whoever runs this machine.
func giveToken(w http.ResponseWriter, r *http.Request, admin *client.TokenAdmin) {
	channels := []string{"chat.*", "cursors.*", "news.#"}
	issued, err := admin.Issue(r.Context(), client.IssueRequest{
		CreatedBy: "backend-go",
		ExpiresIn: 15 * time.Minute,
		Grants:    []client.Grant{{Tenants: []string{"demo.room"}, Publish: channels, Subscribe: channels, History: []string{"chat.*"}}},
	})
	if err != nil {
		log.Print(err) // for us; the browser need not know
		http.Error(w, "no token can be had now", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(map[string]any{"token": issued.Token, "expiresAt": issued.ExpiresAt}) // else the page is gone
}
