package command

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/tokenstore"
	"github.com/millrace/millrace/wire"
)

func tokenExplain() *cobra.Command {
	var (
		admin                        adminFlags
		action, tenant               text
		channel, pattern             text
		ip, origin, protocol, region text
	)
	cmd := &cobra.Command{
		Use:   "explain [<token-id>] --action publish|subscribe|history|presence|connect",
		Short: "Says whether a token allows an action, and by which rule or why not",
		Long: "Says whether a token allows an action, and by which rule or why not; whose token it is, who\n" +
			"issued it, and which limits hold for its connections to this edge. Exit code 0 means\n" +
			"allowed, 3 refused. Without an argument, the token comes from $" + tokenVariable + " or stdin;\n" +
			"then its secret is checked, too.\n\n" +
			"For connect, those of --ip, --origin, --protocol and --region that are not given count as\n" +
			"unknown, and a token that limits them refuses. For the other actions, only those that are\n" +
			"given are checked. The action history is a subscription that begins in the past, and\n" +
			"presence is to see who is present.",
		Example: "  pubsub token explain 0123456789abcdef0123456789abcdef --action publish --tenant demo --channel news.eu\n" +
			"  pubsub token explain --action subscribe --tenant demo --pattern 'news.#' < token.txt\n" +
			"  pubsub token explain --action connect --ip 192.0.2.1 --protocol websocket < token.txt",
	}
	admin.add(cmd)
	tenant = wire.DefaultTenant
	fl := cmd.Flags()
	fl.Var(&action, "action", "publish, subscribe, history, presence or connect")
	fl.Var(&tenant, "tenant", "tenant to publish or subscribe in")
	fl.Var(&channel, "channel", "channel to publish to")
	fl.Var(&pattern, "pattern", "pattern to subscribe to")
	fl.Var(&ip, "ip", "address of the client")
	fl.Var(&origin, "origin", "origin of the browser page, like https://example.com")
	fl.Var(&protocol, "protocol", "websocket or webtransport")
	fl.Var(&region, "region", "region of the edge")
	return runnable(cmd, argCount{0, 1}, func(cmd *cobra.Command, args []string) error {
		body := map[string]string{"action": string(action)}
		for name, value := range map[string]text{"ip": ip, "origin": origin, "protocol": protocol, "region": region} {
			if value != "" {
				body[name] = string(value)
			}
		}
		switch action {
		case tokenstore.ActionPublish:
			if channel == "" || pattern != "" {
				return usagef("--action publish needs --channel, and takes no --pattern")
			}
			body["tenant"], body["channel"] = string(tenant), string(channel)
		case tokenstore.ActionSubscribe, tokenstore.ActionHistory, tokenstore.ActionPresence:
			if pattern == "" || channel != "" {
				return usagef("--action %s needs --pattern, and takes no --channel", action)
			}
			body["tenant"], body["channel"] = string(tenant), string(pattern)
		case tokenstore.ActionConnect:
			if channel != "" || pattern != "" || cmd.Flags().Changed("tenant") {
				return usagef("--action connect takes no --tenant, --channel or --pattern")
			}
		default:
			return usagef("--action: must be publish, subscribe, history, presence or connect")
		}
		if len(args) == 1 {
			body["token_id"] = args[0]
		} else {
			token, err := readSubject(cmd)
			if err != nil {
				return err
			}
			body["token"] = token
		}
		answer, err := callAdmin(cmd.Context(), string(admin.address), http.MethodPost, "/pubsub/explain", body)
		if err != nil {
			return err
		}
		return showExplanation(cmd, answer, admin.json)
	})
}

// limitText is a limit in words.
func limitText(l pubsub.LimitUse) string {
	text := l.Name
	if l.Of != "" {
		text += " of " + l.Of
	}
	most := "none"
	if l.Limit > 0 {
		most = strconv.Itoa(l.Limit)
	}
	if strings.HasPrefix(l.Name, "max_connections") || l.Name == "issuer_share" {
		return fmt.Sprintf("%s: %d of %s", text, l.Used, most)
	}
	return text + ": " + most
}

func showExplanation(cmd *cobra.Command, answer []byte, asJSON bool) error {
	var e struct {
		tokenstore.Explanation
		Token *struct {
			TokenID    string    `json:"token_id"`
			Status     string    `json:"status"`
			Subject    string    `json:"subject"`
			CreatedBy  string    `json:"created_by"`
			ExpiresAt  time.Time `json:"expires_at"`
			Tenants    []string  `json:"tenants"`
			MasterID   string    `json:"master_id"`
			MasterName string    `json:"master_name"`
		} `json:"token"`
		Limits []pubsub.LimitUse `json:"limits"`
	}
	if err := json.Unmarshal(answer, &e); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	verdict := "refused"
	if e.Allowed {
		verdict = "allowed"
	}
	if asJSON {
		if _, err := out.Write(answer); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(out, "%s: %s\n", verdict, plain(e.Reason))
		if e.Rule != "" {
			fmt.Fprintf(out, "rule: %s\n", plain(e.Rule))
		}
		if t := e.Token; t != nil {
			fmt.Fprintf(out, "token: %s, %s, expires %s\n", plain(t.TokenID), plain(t.Status), timestamp(t.ExpiresAt))
			fmt.Fprintf(out, "subject: %s\n", plain(cmp.Or(t.Subject, "none")))
			fmt.Fprintf(out, "tenants: %s\n", plain(strings.Join(t.Tenants, ", ")))
			issuer := "the admin API or the console"
			if t.MasterID != "" {
				issuer = "master token " + t.MasterID + " (" + cmp.Or(t.MasterName, "deleted") + ")"
			}
			fmt.Fprintf(out, "issued by: %s, for %s\n", plain(issuer), plain(t.CreatedBy))
		}
		for _, l := range e.Limits {
			fmt.Fprintf(out, "limit: %s\n", plain(limitText(l)))
		}
	}
	if !e.Allowed {
		return errRefused
	}
	return nil
}
