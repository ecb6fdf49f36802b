package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	defaultReadyURL  = "http://localhost:8080/ready"
	readinessTimeout = 5 * time.Second
	maxReadyAnswer   = 64 << 10 // bytes
)

func readyCommand() *cobra.Command {
	address, ca := text(defaultReadyURL), text("")
	cmd := &cobra.Command{
		Use:   "ready",
		Short: "Asks an edge whether clients may come to it",
		Long: "Asks an edge whether clients may come to it, as the handler pubsub_ready answers: exit code\n" +
			"0 if so, 1 if not or if there is no answer within 5 s. It is for the health checks of\n" +
			"containers that have no other program.",
		Example: "  pubsub ready --url http://localhost:8080/ready",
	}
	cmd.Flags().Var(&address, "url", "what to ask: http:// or https://, with the path of pubsub_ready")
	cmd.Flags().Var(&ca, "ca", caUsage)
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		u, err := url.Parse(string(address))
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return usagef("--url: must be like %s, without user", defaultReadyURL)
		}
		if ca != "" && u.Scheme == "http" {
			return usagef("--ca: needs a --url with https://")
		}
		roots, err := rootCAs(string(ca))
		if err != nil {
			return err
		}
		answer, err := askReady(cmd.Context(), u, roots)
		if err != nil {
			return err
		}
		for line := range strings.Lines(answer) {
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), plain(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		return nil
	})
}

// askReady returns the answer of an edge that is ready, and an error otherwise.
func askReady(ctx context.Context, u *url.URL, roots *x509.CertPool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, readinessTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", usagef("--url: must be like %s, without user", defaultReadyURL)
	}
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}} // no proxy: the question is for this edge
	res, err := transport.RoundTrip(req)                                                                // follows no redirect
	if err != nil {
		return "", fmt.Errorf("no answer from %s: %w", u.Host, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReadyAnswer))
	if err != nil {
		return "", fmt.Errorf("no answer from %s: %w", u.Host, err)
	}
	answer := strings.TrimSpace(string(body))
	if res.StatusCode == http.StatusOK && (answer == "ready" || strings.HasPrefix(answer, "ready\n")) {
		return answer, nil
	}
	return "", errors.New(strings.Replace(refusalText(res.StatusCode, body), "the admin endpoint of an edge", "the path of pubsub_ready", 1))
}
