package command

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/pubsub"
	"github.com/millrace/millrace/pubsub/refusals"
)

// refusedAnswer is what edges have refused last.
type refusedAnswer struct {
	Edges   []edgeAnswer `json:"edges"`
	Refused []struct {
		EdgeName string `json:"edge_name"`
		refusals.Refusal
	} `json:"refused"`
	NextCursor string `json:"next_cursor"`
}

const maxRefusedListed = 1000

func refusedCommand() *cobra.Command {
	var (
		admin                                     adminFlags
		reach                                     reachFlags
		connectionID, tokenID, subject, ip, limit text
	)
	cmd := &cobra.Command{
		Use:   "refused",
		Short: "Lists what an edge, or all, refused last, and why: connections, publishes, subscriptions",
		Long: "Lists what an edge, or all, refused last, newest first, with the whole reason and the rule\n" +
			"that decided, which clients are not told. Each edge keeps some 4,000 in memory, shared\n" +
			"fairly among tokens and addresses; the log has them for longer.",
		Example: "  pubsub refused --all --connection-id 5f3a9c01b2d4e6f8\n" +
			"  pubsub refused --all --subject user-17\n" +
			"  pubsub refused --token-id 0123456789abcdef0123456789abcdef\n" +
			"  pubsub refused --edge eu.example.com --ip 203.0.113.0/24",
	}
	admin.add(cmd)
	reach.add(cmd, "by all edges of the overlay")
	limit = "100"
	cmd.Flags().Var(&connectionID, "connection-id", "only of a connection, or of an attempt: what the client was answered")
	cmd.Flags().Var(&tokenID, "token-id", "only of a token")
	cmd.Flags().Var(&subject, "subject", "only of the tokens of a subject")
	cmd.Flags().Var(&ip, "ip", "only of an address, or of a CIDR like 203.0.113.0/24")
	cmd.Flags().Var(&limit, "limit", "how many, at most 1000")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if err := reach.check(); err != nil {
			return err
		}
		if n, err := strconv.Atoi(string(limit)); err != nil || n < 1 || n > maxRefusedListed {
			return usagef("--limit: must be from 1 to %d", maxRefusedListed)
		}
		query := url.Values{"limit": {string(limit)}}
		if !reach.all {
			query.Set("edge", reach.one())
		}
		for name, value := range map[string]text{"connection_id": connectionID, "token_id": tokenID, "subject": subject, "ip": ip} {
			if value != "" {
				query.Set(name, string(value))
			}
		}
		return admin.call(cmd, http.MethodGet, "/pubsub/refused?"+encode(query), nil, func(answer []byte) error {
			var list refusedAnswer
			if err := json.Unmarshal(answer, &list); err != nil {
				return err
			}
			if list.NextCursor != "" {
				cmd.PrintErrf("Note: there are older ones: raise --limit, or name a subject, token or address.\n")
			}
			missing, silent := missingEdges(list.Edges, reach.all)
			noteSilent(cmd, silent)
			return errors.Join(printRefused(cmd, &list, reach.all || reach.edge != ""), unanswered(missing))
		})
	})
}

func printRefused(cmd *cobra.Command, list *refusedAnswer, edges bool) error {
	header := []string{"TIME", "CONNECTION ID", "WHAT", "CODE", "TOKEN ID", "SUBJECT", "IP", "TRANSPORT", "REASON", "RULE"}
	if edges {
		header = append([]string{"EDGE"}, header...)
	}
	rows := [][]string{header}
	for _, r := range list.Refused {
		what, ip := r.Action, ""
		if r.Tenant != "" {
			what += " " + r.Tenant + ":" + r.Channel
		}
		if r.IP.IsValid() {
			ip = r.IP.String()
		}
		row := []string{
			timestamp(r.Time), r.ConnectionID.String(), what, r.Code, r.TokenID, r.Subject, ip, r.Transport, r.Reason, r.Rule,
		}
		if edges {
			row = append([]string{r.EdgeName}, row...)
		}
		rows = append(rows, row)
	}
	return table(cmd.OutOrStdout(), rows...)
}

// missingEdges are the edges that did not answer, and those that are silent, of all edges: these
// have crashed, or cannot be asked.
func missingEdges(edges []edgeAnswer, all bool) (missing, silent []string) {
	for _, edge := range edges {
		switch {
		case edge.Answered:
		case edge.State == pubsub.MemberSilent && all:
			silent = append(silent, edge.Name)
		default:
			missing = append(missing, edge.Name+": "+edge.Error)
		}
	}
	return missing, silent
}
