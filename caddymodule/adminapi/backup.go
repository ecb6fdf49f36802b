package adminapi

import (
	"net/http"
	"net/url"
	"time"

	"go.uber.org/zap"

	"github.com/millrace/millrace/caddymodule/operate"
	"github.com/millrace/millrace/caddymodule/problem"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/tokenstore/rest"
)

// backup answers with all stored tokens. A backup without its last line is incomplete; the
// connection is then aborted, so that nobody takes it for a complete one.
func backup(w http.ResponseWriter, r *http.Request, c operate.Caller) {
	out := &startedWriter{ResponseWriter: w}
	w.Header().Set("Content-Type", tokenstore.BackupType)
	w.Header().Set("Cache-Control", "no-store")
	err := c.Running.Service.Backup(r.Context(), out)
	switch {
	case err == nil:
		c.Conclude(r, "backup", http.StatusOK, "", nil)
	case !out.started:
		c.Answer(w, r, "backup", nil, err)
	default:
		c.Conclude(r, "backup", http.StatusInternalServerError, "internal", nil)
		c.App.Log().Error("a backup broke off", zap.Error(err))
		panic(http.ErrAbortHandler)
	}
}

// startedWriter records whether anything was written.
type startedWriter struct {
	http.ResponseWriter
	started bool
}

func (w *startedWriter) Write(data []byte) (int, error) {
	w.started = true
	return w.ResponseWriter.Write(data)
}

// restore adds the tokens of a backup that the store does not have.
func restore(w http.ResponseWriter, r *http.Request, c operate.Caller) {
	options, ok := restoreOptions(r.URL)
	if !ok {
		problem.Write(w, http.StatusBadRequest, "invalid_query", "allowed in the query: masters_only and dry_run, each true or false")
		return
	}
	if r.Header.Get("Content-Type") != tokenstore.BackupType {
		problem.Write(w, http.StatusUnsupportedMediaType, string(rest.CodeUnsupportedMediaType), "Content-Type must be "+tokenstore.BackupType)
		return
	}
	// Caddy's admin endpoint gives a request 10 s.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a connection without deadlines returns an error
	restored, err := c.Running.Service.Restore(r.Context(), r.Body, options)
	if !options.DryRun {
		log, what := c.App.Log().Info, "a backup was restored"
		if err != nil {
			log, what = c.App.Log().Error, "a backup was restored in part"
		}
		log(what, zap.Any("tokens", restored), zap.Bool("masters_only", options.MastersOnly), zap.Error(err))
	}
	c.Answer(w, r, "restore", restored, err)
}

func restoreOptions(u *url.URL) (o tokenstore.RestoreOptions, ok bool) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return o, false
	}
	for name, values := range query {
		flag := map[string]*bool{"masters_only": &o.MastersOnly, "dry_run": &o.DryRun}[name]
		if flag == nil || len(values) != 1 || values[0] != "true" && values[0] != "false" {
			return o, false
		}
		*flag = values[0] == "true"
	}
	return o, true
}
