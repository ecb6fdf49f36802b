package openapi

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func get(method, target string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	Handler().ServeHTTP(rec, httptest.NewRequest(method, "https://edge.example"+target, nil))
	return rec
}

func TestServes(t *testing.T) {
	for _, test := range []struct{ path, contentType string }{
		{"/api-docs/openapi.json", "application/json"},
		{"/swagger-ui", "text/html; charset=utf-8"},
		{"/swagger-ui?url=https://other.example/x.json", "text/html; charset=utf-8"},
		{"/swagger-ui/init.js", "text/javascript; charset=utf-8"},
		{"/swagger-ui/swagger-ui-bundle.js", "text/javascript; charset=utf-8"},
		{"/swagger-ui/swagger-ui.css", "text/css; charset=utf-8"},
		{"/swagger-ui/favicon-32x32.png", "image/png"},
		{"/swagger-ui/LICENSE", "text/plain; charset=utf-8"},
		{"/swagger-ui/NOTICE", "text/plain; charset=utf-8"},
		{"/swagger-ui/swagger-ui-bundle.js.LICENSE.txt", "text/plain; charset=utf-8"},
	} {
		t.Run(test.path, func(t *testing.T) {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				rec := get(method, test.path)
				if got := rec.Header().Get("Content-Type"); rec.Code != http.StatusOK || got != test.contentType {
					t.Errorf("%s: got %d %s, want 200 %s", method, rec.Code, got, test.contentType)
				}
				if hasBody := rec.Body.Len() > 0; hasBody != (method == http.MethodGet) {
					t.Errorf("%s: a body of %d bytes", method, rec.Body.Len())
				}
				wantGuarded(t, rec)
			}
			rec := get(http.MethodPost, test.path)
			if got := rec.Header().Get("Allow"); rec.Code != http.StatusMethodNotAllowed || got != "GET, HEAD" {
				t.Errorf("POST: got %d, Allow %q", rec.Code, got)
			}
			if !strings.Contains(rec.Body.String(), `"code":"method_not_allowed"`) {
				t.Errorf("POST: %s", rec.Body)
			}
			wantGuarded(t, rec)
		})
	}
}

func TestServesNothingElse(t *testing.T) {
	for _, path := range []string{
		"/", "/api-docs", "/api-docs/", "/api-docs/openapi.json/", "/api-docs/openapi.yaml", "/API-docs/openapi.json",
		"/swagger-ui/", "/Swagger-ui", "/swagger-ui/index.html", "/swagger-ui/swagger-ui.css.map", "/swagger-ui/ui/init.js",
		"/swagger-ui/../swagger-ui", "/swagger-ui/%69nit.js", "/swagger-ui%2Finit.js", "/openapi.json",
	} {
		t.Run(path, func(t *testing.T) {
			rec := get(http.MethodGet, path)
			if rec.Code != http.StatusNotFound || !strings.Contains(rec.Body.String(), `"code":"not_found"`) {
				t.Errorf("got %d %s, want 404 not_found", rec.Code, rec.Body)
			}
			wantGuarded(t, rec)
		})
	}
}

func wantGuarded(t *testing.T, rec *httptest.ResponseRecorder) {
	t.Helper()
	policy := map[string]string{}
	for directive := range strings.SplitSeq(rec.Header().Get("Content-Security-Policy"), "; ") {
		name, sources, _ := strings.Cut(directive, " ")
		policy[name] = sources
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
		"img-src": "'self' data:", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
	} {
		if policy[name] != want {
			t.Errorf("CSP: %s = %q, want %q", name, policy[name], want)
		}
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		if got := rec.Header().Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// The page loads what this handler serves, by relative paths, and has nothing
// inline that the policy would stop.
func TestPage(t *testing.T) {
	page := get(http.MethodGet, PagePath).Body.String()
	references := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(references) < 4 {
		t.Fatalf("the page refers to %d files, want its icon, style and two scripts", len(references))
	}
	for _, ref := range references {
		if rec := get(http.MethodGet, "/"+ref[1]); rec.Code != http.StatusOK {
			t.Errorf("%s is answered %d", ref[1], rec.Code)
		}
	}
	if inline := regexp.MustCompile(`(?i)<script[^>]*>[^<]|<style|style=|\son\w+=|//`).FindString(page); inline != "" {
		t.Errorf("the page holds %q", inline)
	}

	start := get(http.MethodGet, PagePath+"/init.js").Body.String()
	for _, want := range []string{
		`url: "api-docs/openapi.json"`, "persistAuthorization: false", "validatorUrl: null", "queryConfigEnabled: false",
	} {
		if !strings.Contains(start, want) {
			t.Errorf("init.js lacks %s", want)
		}
	}
}

func TestNotModified(t *testing.T) {
	first := get(http.MethodGet, PagePath)
	r := httptest.NewRequest(http.MethodGet, PagePath, nil)
	r.Header.Set("If-None-Match", first.Header().Get("ETag"))
	rec := httptest.NewRecorder()
	Handler().ServeHTTP(rec, r)
	if rec.Code != http.StatusNotModified || rec.Body.Len() > 0 {
		t.Errorf("got %d with %d bytes, want 304 without", rec.Code, rec.Body.Len())
	}
}

// The files add little to the binary: no source maps among them.
func TestSize(t *testing.T) {
	var total int64
	err := fs.WalkDir(ui, "ui", func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if err != nil || total == 0 || total > 4<<20 {
		t.Errorf("%d bytes (%v), want at most 4 MiB", total, err)
	}
}
