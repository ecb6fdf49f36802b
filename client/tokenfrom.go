package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	neturl "net/url"
	"strings"
)

// maxTokenAnswer is how much of the answer of a token endpoint is read, in bytes, and maxTokenText how much of
// its error is shown.
const (
	maxTokenAnswer = 64 << 10
	maxTokenText   = 300
)

// TokenFrom returns a TokenProvider that asks an endpoint of the application's backend: by POST, with no body, with
// http.DefaultClient. The endpoint answers with what [TokenAdmin.Issue] has returned, as JSON; see
// [AccessToken.UnmarshalJSON]. The text of any other answer is in the error; 401 and 403 mean that there will be no
// token: the client ends with [ErrLoggedOut]. An endpoint that needs cookies or headers takes a provider of its own.
func TokenFrom(url string) func(ctx context.Context) (AccessToken, error) {
	return func(ctx context.Context) (token AccessToken, err error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, nil)
		if err != nil || req.URL.Host == "" {
			return token, badOption("TokenFrom needs the whole URL of a token endpoint, like https://app.example.com/token")
		}
		where := req.URL.Scheme + "://" + req.URL.Host + req.URL.Path // not its query, which may have a secret
		req.Header.Set("Accept", "application/json")
		req.Header.Set("Cache-Control", "no-store")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			var of *neturl.Error // which has the whole URL, perhaps of a redirect
			if errors.As(err, &of) {
				err = of.Err
			}
			return token, unreachable("the token endpoint does not answer: "+where, err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(io.LimitReader(res.Body, maxTokenAnswer))
		if err != nil {
			return token, unreachable("the answer of the token endpoint broke off", err)
		}
		kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
		text := strings.TrimSpace(printable(string(body)))
		switch {
		case kind == "text/html":
			text = "a page in place of a token; is the URL right, and is the user logged in?"
		case len(text) > maxTokenText:
			text = strings.ToValidUTF8(text[:maxTokenText], "") + "…"
		}
		switch {
		case res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden:
			return token, fmt.Errorf("%s answers %d: %s: %w", where, res.StatusCode, cmp.Or(text, "no text"), ErrLoggedOut)
		case res.StatusCode/100 != 2: // the text of any other may have the token
			return token, fmt.Errorf("%s answers %d: %s", where, res.StatusCode, cmp.Or(text, "no text"))
		case kind == "text/html":
			return token, badOption("%s answers with %s", where, text)
		}
		return token, json.Unmarshal(body, &token)
	}
}
