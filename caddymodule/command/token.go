package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/tokenstore"
)

func tokenCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "token <command>",
		Short: "Manages access tokens, with which clients connect",
	}, tokenIssue(), tokenList(), tokenRevoke(), tokenRefresh(), tokenExplain())
}

// expiryFlags say when a token expires.
type expiryFlags struct {
	in time.Duration
	at text
}

func (f *expiryFlags) add(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&f.in, "expires-in", time.Hour, "lifetime from now; more than 24h means 24h")
	cmd.Flags().Var(&f.at, "expires-at", "expiry instead of --expires-in, RFC 3339 like 2030-01-31T12:00:00Z")
}

// value returns what a request has of the two. A lifetime leaves the edge's clock to the edge.
func (f *expiryFlags) value(cmd *cobra.Command) (at string, in *int64, err error) {
	if f.at != "" {
		if cmd.Flags().Changed("expires-in") {
			return "", nil, usagef("--expires-in and --expires-at cannot be combined")
		}
		return string(f.at), nil, nil
	}
	if f.in < time.Second {
		return "", nil, usagef("--expires-in: must be at least 1s")
	}
	return "", wholeSeconds(f.in), nil
}

// wholeSeconds is a lifetime as requests have it.
func wholeSeconds(d time.Duration) *int64 { return new(int64(d / time.Second)) }

// warn says so if the edge has cut the lifetime that was asked for.
func (f *expiryFlags) warn(cmd *cobra.Command, granted int64) {
	if got := time.Duration(granted) * time.Second; f.at == "" && got > 0 && got < f.in.Truncate(time.Second) {
		cmd.PrintErrf("The token is good for %s, the longest that an edge gives, and not for %s.\n", got, f.in)
	}
}

// bothClocks adds the time here to a refusal that has the time at the edge.
func bothClocks(err error) error {
	if err == nil || !strings.Contains(err.Error(), tokenstore.CodeExpiresAtOutOfRange) {
		return err
	}
	return fmt.Errorf("%w; it is %s on this machine", err, timestamp(time.Now()))
}

func tokenIssue() *cobra.Command {
	var (
		admin                   adminFlags
		expiry                  expiryFlags
		createdBy, description  text
		subject, info           text
		tenants, pub, sub       texts
		history, presence       texts
		masks, regions, origins texts
		protocols               texts
		ingress, egress         int
		quiet                   bool
	)
	createdBy = "cli"
	cmd := &cobra.Command{
		Use:   "issue --tenant <name> [--pub <rule>] [--sub <rule>] [--history <rule>] [--presence <rule>]",
		Short: "Issues an access token and shows it once",
		Long: "Issues an access token and shows it once. The rules apply to each of the tenants, which\n" +
			"are physical names: no prefix is added. Without --pub the token may not publish, without\n" +
			"--sub it may not subscribe, and without --history a subscription cannot begin in the past.",
		Example: "  pubsub token issue --tenant demo --pub '#' --sub '#'\n" +
			"  export MILLRACE_TOKEN=$(pubsub token issue --tenant demo --sub 'news.#' --expires-in 15m --quiet)",
	}
	admin.add(cmd)
	expiry.add(cmd)
	fl := cmd.Flags()
	fl.Var(&tenants, "tenant", "tenant of the grant; repeatable")
	fl.Var(&pub, "pub", "publish rule; repeatable")
	fl.Var(&sub, "sub", "subscribe rule; repeatable")
	fl.Var(&history, "history", "rule for reading stored messages, of what --sub allows; repeatable")
	fl.Var(&presence, "presence", "rule for seeing who is present; repeatable")
	fl.Var(&masks, "ip-mask", "address or CIDR that may connect; repeatable (none: any address)")
	fl.Var(&regions, "region", "region of edges that accept the token; repeatable (none: any region)")
	fl.Var(&origins, "origin", "browser origin that may connect; repeatable (none: any origin)")
	fl.Var(&protocols, "protocol", "websocket or webtransport; repeatable (none: both)")
	fl.IntVar(&ingress, "ingress", 0, "cap on what a connection sends, KB/s (0: the edge's default)")
	fl.IntVar(&egress, "egress", 0, "cap on what a connection receives, KB/s (0: the edge's default)")
	fl.Var(&createdBy, "created-by", "who asked for the token")
	fl.Var(&description, "description", "comment, at most 512 characters")
	allowEmpty(cmd, "description")
	fl.Var(&subject, "subject", "whose token it is, at most 128 bytes")
	fl.Var(&info, "info", "what the application wants to know of it again, a JSON object of at most 1024 bytes")
	fl.BoolVarP(&quiet, "quiet", "q", false, "print only the token")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if len(tenants) == 0 {
			return usagef("--tenant is required, with --pub or --sub or both")
		}
		if quiet && admin.json {
			return usagef("--quiet and --json cannot be combined")
		}
		if info != "" && !json.Valid([]byte(info)) {
			return usagef("--info: must be a JSON object")
		}
		expiresAt, expiresIn, err := expiry.value(cmd)
		if err != nil {
			return err
		}
		request := tokenstore.IssueRequest{
			CreatedBy: string(createdBy), Description: string(description), Subject: string(subject), Info: json.RawMessage(info),
			Right: tokenstore.Right{
				TenantGrants: []tokenstore.TenantGrant{{
					TenantIDs: tenants, AllowChannelsPub: pub, AllowChannelsSub: sub, AllowChannelsHistory: history,
					AllowChannelsPresence: presence,
				}},
				AllowIPMasks: masks, AllowRegions: regions, AllowedWSOrigin: origins, AllowProtocols: protocols,
				ExpiresAt: expiresAt, ExpiresIn: expiresIn,
			},
		}
		if cmd.Flags().Changed("ingress") && ingress != 0 {
			request.Right.IngressKBPerSec = &ingress
		}
		if cmd.Flags().Changed("egress") && egress != 0 {
			request.Right.EgressKBPerSec = &egress
		}
		return bothClocks(admin.call(cmd, http.MethodPost, "/pubsub/tokens", request, func(answer []byte) error {
			var got issued
			if err := json.Unmarshal(answer, &got); err != nil {
				return err
			}
			expiry.warn(cmd, got.ExpiresIn)
			if quiet {
				return showSecret(cmd, answer)
			}
			cmd.PrintErrln("The token is shown only once.")
			return table(cmd.OutOrStdout(),
				[]string{"token", got.Token}, []string{"token id", got.TokenID}, []string{"expires at", got.ExpiresAt})
		}))
	})
}

// issued is the answer to a call that issues a token.
type issued struct {
	Token     string `json:"token"`
	TokenID   string `json:"token_id"`
	ExpiresAt string `json:"expires_at"`
	ExpiresIn int64  `json:"expires_in"` // seconds
}

func tokenList() *cobra.Command {
	var (
		admin                   adminFlags
		limit                   int
		cursor, tenant, subject text
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Lists access tokens, without their secrets",
		Long:  "Lists access tokens by id, without their secrets. A token is listed until a day after it expires.",
	}
	admin.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", tokenstore.DefaultListLimit, "tokens per page, at most 1000")
	cmd.Flags().Var(&cursor, "cursor", "cursor that the previous page printed")
	cmd.Flags().Var(&tenant, "tenant", "only tokens with a grant for this tenant")
	cmd.Flags().Var(&subject, "subject", "only tokens of this subject")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		query := url.Values{"limit": {strconv.Itoa(limit)}}
		if cursor != "" {
			query.Set("cursor", string(cursor))
		}
		if tenant != "" {
			query.Set("tenant", string(tenant))
		}
		if subject != "" {
			query.Set("subject", string(subject))
		}
		return admin.call(cmd, http.MethodGet, "/pubsub/tokens?"+encode(query), nil, func(answer []byte) error {
			var page struct {
				Tokens []tokenstore.AccessInfo `json:"tokens"`
				Next   string                  `json:"next_cursor"`
			}
			if err := json.Unmarshal(answer, &page); err != nil {
				return err
			}
			rows := [][]string{{"TOKEN ID", "STATUS", "EXPIRES", "TENANTS", "SUBJECT", "CREATED BY", "DESCRIPTION"}}
			for _, t := range page.Tokens {
				var tenants []string
				for _, g := range t.Right.TenantGrants {
					tenants = append(tenants, g.TenantIDs...)
				}
				rows = append(rows, []string{
					t.TokenID, t.Status, timestamp(t.ExpiresAt), strings.Join(tenants, " "), t.Subject, t.CreatedBy, t.Description,
				})
			}
			if page.Next != "" {
				cmd.PrintErrln("More tokens follow: --cursor " + page.Next)
			}
			return table(cmd.OutOrStdout(), rows...)
		})
	})
}

func tokenRevoke() *cobra.Command {
	var (
		admin   adminFlags
		subject text
	)
	cmd := &cobra.Command{
		Use:   "revoke [<token-id> | --subject <subject>]",
		Short: "Revokes an access token, or all of a subject, and closes its connections",
		Long: "Revokes an access token permanently and closes its connections, or does so with all tokens\n" +
			"of a subject. Without an argument, the token comes from $" + tokenVariable + " or stdin.",
		Example: "  pubsub token revoke 0123456789abcdef0123456789abcdef\n" +
			"  pubsub token revoke < token.txt\n" +
			"  pubsub token revoke --subject user-17",
	}
	admin.add(cmd)
	cmd.Flags().Var(&subject, "subject", "revoke all tokens of this subject")
	return runnable(cmd, argCount{0, 1}, func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("subject") {
			if len(args) > 0 {
				return usagef("--subject and a token id cannot be combined")
			}
			return revokeSubject(cmd, admin, string(subject))
		}
		id := ""
		if len(args) == 1 {
			id = args[0]
		} else {
			token, err := readSubject(cmd)
			if err != nil {
				return err
			}
			id = accessToken.FindStringSubmatch(token)[1]
		}
		return admin.call(cmd, http.MethodDelete, tokenPath(id), nil, func([]byte) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "revoked", id)
			return err
		})
	})
}

func revokeSubject(cmd *cobra.Command, admin adminFlags, subject string) error {
	query := url.Values{"subject": {subject}}
	return admin.call(cmd, http.MethodDelete, "/pubsub/tokens?"+encode(query), nil, func(answer []byte) error {
		var got struct {
			Revoked int `json:"revoked"`
		}
		if err := json.Unmarshal(answer, &got); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "revoked %d %s\n", got.Revoked, noun(got.Revoked, "token"))
		return err
	})
}

func tokenRefresh() *cobra.Command {
	var (
		admin  adminFlags
		expiry expiryFlags
	)
	cmd := &cobra.Command{
		Use:     "refresh <token-id>",
		Short:   "Changes the expiry of an access token, also for its open connections",
		Example: "  pubsub token refresh 0123456789abcdef0123456789abcdef --expires-in 12h",
	}
	admin.add(cmd)
	expiry.add(cmd)
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		at, in, err := expiry.value(cmd)
		if err != nil {
			return err
		}
		body := struct {
			ExpiresAt string `json:"expires_at,omitempty"`
			ExpiresIn *int64 `json:"expires_in,omitempty"`
		}{at, in}
		return bothClocks(admin.call(cmd, http.MethodPut, tokenPath(args[0]), body, func(answer []byte) error {
			var got struct {
				ExpiresAt time.Time `json:"new_expires_at"`
				ExpiresIn int64     `json:"expires_in"`
			}
			if err := json.Unmarshal(answer, &got); err != nil {
				return err
			}
			expiry.warn(cmd, got.ExpiresIn)
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "refreshed", args[0], "until", timestamp(got.ExpiresAt))
			return err
		}))
	})
}

func tokenPath(id string) string { return "/pubsub/tokens/" + url.PathEscape(id) }
