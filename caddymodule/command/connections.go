package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/pubsub"
)

// thisEdge names, in the admin API, the edge that is called.
const thisEdge = "local"

// reachFlags say which edges of the overlay a command concerns. Without them it is the edge
// whose admin endpoint is called.
type reachFlags struct {
	edge text
	all  bool
}

func (f *reachFlags) add(cmd *cobra.Command, all string) {
	cmd.Flags().Var(&f.edge, "edge", "another edge of the overlay, by its host, name or ID")
	cmd.Flags().BoolVar(&f.all, "all", false, all)
}

func (f *reachFlags) check() error {
	if f.all && f.edge != "" {
		return usagef("--edge and --all cannot be combined")
	}
	return nil
}

// one is the edge that is meant if it is not all.
func (f *reachFlags) one() string {
	if f.edge == "" {
		return thisEdge
	}
	return string(f.edge)
}

// connectionsAnswer is a page of connections, or all of them.
type connectionsAnswer struct {
	Edges       []edgeAnswer      `json:"edges"`
	Connections []json.RawMessage `json:"connections"`
	NextCursor  string            `json:"next_cursor,omitempty"`
}

// edgeAnswer says whether an edge answered.
type edgeAnswer struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	State    string `json:"state,omitempty"`
	Answered bool   `json:"answered"`
	Error    string `json:"error,omitempty"`
	Total    int    `json:"total"`
	Matching int    `json:"matching"`
	Draining bool   `json:"draining"`
}

// listedConnection is a connection of an edge.
type listedConnection struct {
	EdgeName string `json:"edge_name"`
	pubsub.Stat
}

const (
	connectionsPage = 1000      // rows
	maxConnections  = 2_000_000 // that are listed
)

func connectionsCommand() *cobra.Command {
	var (
		admin                                   adminFlags
		reach                                   reachFlags
		tokenID, subject, tenant, ip, transport text
		connectionID                            text
	)
	cmd := &cobra.Command{
		Use:   "connections",
		Short: "Lists the open connections of an edge or of all, oldest first",
		Example: "  pubsub connections\n" +
			"  pubsub connections --all --tenant paint.room\n" +
			"  pubsub connections --edge eu.example.com --ip 203.0.113.0/24",
	}
	admin.add(cmd)
	reach.add(cmd, "those of all edges of the overlay")
	cmd.Flags().Var(&connectionID, "connection-id", "only the one with the id that its client was answered")
	cmd.Flags().Var(&tokenID, "token-id", "only those of a token")
	cmd.Flags().Var(&subject, "subject", "only those with tokens of a subject")
	cmd.Flags().Var(&tenant, "tenant", "only those whose token names a tenant, or that have a subscription in it")
	cmd.Flags().Var(&ip, "ip", "only those of an address, or of a CIDR like 203.0.113.0/24")
	cmd.Flags().Var(&transport, "transport", "only those over websocket or webtransport")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if err := reach.check(); err != nil {
			return err
		}
		query := url.Values{}
		for name, value := range map[string]text{"connection_id": connectionID, "token_id": tokenID, "subject": subject, "tenant": tenant, "ip": ip, "transport": transport} {
			if value != "" {
				query.Set(name, string(value))
			}
		}
		if len(query) == 0 && !reach.all && reach.edge == "" { // an edge of an earlier version answers this, too
			return admin.call(cmd, http.MethodGet, "/pubsub/connections", nil, func(answer []byte) error {
				var list connectionsAnswer
				if err := json.Unmarshal(answer, &list); err != nil {
					return err
				}
				return printConnections(cmd, list.Connections, false)
			})
		}
		if !reach.all {
			query.Set("edge", reach.one())
		}
		list, err := allConnections(cmd, string(admin.address), query)
		if err != nil {
			return err
		}
		if admin.json {
			err = json.NewEncoder(cmd.OutOrStdout()).Encode(list)
		} else {
			err = printConnections(cmd, list.Connections, reach.all || reach.edge != "")
		}
		missing, silent := missingEdges(list.Edges, reach.all)
		noteSilent(cmd, silent)
		return errors.Join(err, unanswered(missing))
	})
}

// allConnections gets page after page. A list that changes meanwhile may lack connections
// that were opened since, and nothing else.
func allConnections(cmd *cobra.Command, address string, query url.Values) (list connectionsAnswer, err error) {
	list.Connections = []json.RawMessage{}
	query.Set("limit", strconv.Itoa(connectionsPage))
	for {
		answer, err := callAdmin(cmd.Context(), address, http.MethodGet, "/pubsub/connections?"+encode(query), nil)
		if err != nil {
			return list, err
		}
		var page connectionsAnswer
		if err := json.Unmarshal(answer, &page); err != nil {
			return list, err
		}
		list.Edges = page.Edges
		list.Connections = append(list.Connections, page.Connections...)
		if page.NextCursor == "" {
			return list, nil
		}
		if len(list.Connections) >= maxConnections {
			return list, fmt.Errorf("there are more than %d connections: list some, by --edge, --tenant or another filter", maxConnections)
		}
		query.Set("cursor", page.NextCursor)
	}
}

func printConnections(cmd *cobra.Command, list []json.RawMessage, edges bool) error {
	header := []string{"ID", "CONNECTION ID", "TOKEN ID", "SUBJECT", "IP", "TRANSPORT", "SINCE", "EXPIRES", "SUBSCRIPTIONS", "QUEUED BYTES", "DROPPED", "DRAINING"}
	if edges {
		header = append([]string{"EDGE"}, header...)
	}
	rows := [][]string{header}
	for _, text := range list {
		var c listedConnection
		if err := json.Unmarshal(text, &c); err != nil {
			return err
		}
		row := []string{
			fmt.Sprint(c.ID), c.ConnectionID.String(), c.TokenID, c.Subject, c.IP, c.Transport, timestamp(c.Since), timestamp(c.ExpiresAt),
			fmt.Sprint(c.Subscriptions), fmt.Sprint(c.QueuedBytes), fmt.Sprint(c.Dropped), yesNo(c.Draining),
		}
		if edges {
			row = append([]string{c.EdgeName}, row...)
		}
		rows = append(rows, row)
	}
	return table(cmd.OutOrStdout(), rows...)
}

// unanswered is the error for edges that did not answer; nil: all did.
func unanswered(edges []string) error {
	if len(edges) == 0 {
		return nil
	}
	for i := range edges {
		edges[i] = plain(edges[i])
	}
	return fmt.Errorf("without an answer of %d %s: %s", len(edges), noun(len(edges), "edge"), strings.Join(edges, "; "))
}

// noteSilent tells a person of edges that were not asked, or in vain, which is no failure.
func noteSilent(cmd *cobra.Command, edges []string) {
	for _, edge := range edges {
		cmd.PrintErrf("Note: edge %s is silent: it has crashed, or is cut off. It is not included.\n", plain(edge))
	}
}

func noun(n int, singular string) string {
	if n == 1 {
		return singular
	}
	return singular + "s"
}

func disconnectCommand() *cobra.Command {
	var (
		admin   adminFlags
		reach   reachFlags
		tokenID text
	)
	cmd := &cobra.Command{
		Use:   "disconnect <id> | --token-id <token id>",
		Short: "Closes a connection, or all of a token",
		Long: "Closes a connection, whose number `pubsub connections` lists, or all connections of a\n" +
			"token. Their clients are told closed_by_operator and may come back at once while the token\n" +
			"is valid; `pubsub token revoke` ends them for good.",
		Example: "  pubsub disconnect 17\n" +
			"  pubsub disconnect 17 --edge eu.example.com\n" +
			"  pubsub disconnect --token-id 0123456789abcdef0123456789abcdef --all",
	}
	admin.add(cmd)
	reach.add(cmd, "with --token-id: at all edges of the overlay")
	cmd.Flags().Var(&tokenID, "token-id", "close all connections of this token")
	return runnable(cmd, argCount{0, 1}, func(cmd *cobra.Command, args []string) error {
		if err := reach.check(); err != nil {
			return err
		}
		body := map[string]any{}
		switch {
		case (tokenID == "") == (len(args) == 0):
			return usagef("name either a connection, by the ID that `pubsub connections` lists, or --token-id")
		case tokenID != "":
			body["token_id"] = tokenID
		case reach.all:
			return usagef("--all needs --token-id: IDs of connections are those of one edge")
		default:
			id, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil || id == 0 {
				return usagef("the ID of a connection is a number from 1 on, as `pubsub connections` lists it")
			}
			body["id"] = id
		}
		if !reach.all {
			body["edge"] = reach.one()
		}
		return admin.call(cmd, http.MethodPost, "/pubsub/connections/disconnect", body, func(answer []byte) error {
			var got struct {
				Disconnected int      `json:"disconnected"`
				Unanswered   []string `json:"unanswered"`
				Silent       []string `json:"silent"`
			}
			if err := json.Unmarshal(answer, &got); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "Closed %d %s.\n", got.Disconnected, noun(got.Disconnected, "connection"))
			noteSilent(cmd, got.Silent)
			return errors.Join(err, unanswered(got.Unanswered))
		})
	})
}
