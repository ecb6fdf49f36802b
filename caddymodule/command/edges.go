package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// listedEdge is an edge of the overlay.
type listedEdge struct {
	edgeAnswer
	SeenAt time.Time `json:"seen_at"`
	Lost   bool      `json:"lost"`
	Status *struct {
		Version     string         `json:"version"`
		Connections map[string]int `json:"connections"`
		Broker      struct {
			Linked bool `json:"linked"`
		} `json:"broker"`
		Store struct {
			Usable bool   `json:"usable"`
			Error  string `json:"error"`
		} `json:"store"`
		Links []struct {
			Of, Code, Reason, Error string
			Since                   time.Time
		} `json:"links"`
		Quorum *quorum `json:"quorum"`
	} `json:"status"`
}

// quorum is the members of the cluster of the NATS servers inside edges.
type quorum struct {
	Members []struct {
		Name     string    `json:"name"`
		State    string    `json:"state"`
		Since    time.Time `json:"since"`
		Behind   uint64    `json:"behind"`
		Replicas int       `json:"replicas"`
		Lagging  int       `json:"lagging"`
	} `json:"members"`
	Leader  string `json:"leader"`
	Needed  int    `json:"needed"`
	Running int    `json:"running"`
}

// listEdges lists the edges of the overlay, the one that is called first.
func listEdges(cmd *cobra.Command, admin adminFlags) (list []listedEdge, answer []byte, err error) {
	answer, err = callAdmin(cmd.Context(), string(admin.address), http.MethodGet, "/pubsub/edges", nil)
	if err != nil {
		return nil, nil, err
	}
	var got struct{ Edges []listedEdge }
	err = json.Unmarshal(answer, &got)
	return got.Edges, answer, err
}

func edgesCommand() *cobra.Command {
	var admin adminFlags
	cmd := &cobra.Command{
		Use:   "edges",
		Short: "Lists the edges of the overlay, and what is wrong with them",
		Long: "Lists the edges of the overlay: whether each serves clients, is draining, or has fallen\n" +
			"silent; and below the table what keeps an edge from its servers, and the members of the\n" +
			"cluster of the NATS servers inside edges, most of which must run. The exit code is 0 if the\n" +
			"edge that is called answers, whatever it says of the others.",
		Example: "  pubsub edges\n" +
			"  pubsub edges --json",
	}
	admin.add(cmd)
	cmd.AddCommand(edgesRemoveCommand(), edgesShrinkCommand())
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		list, answer, err := listEdges(cmd, admin)
		if err != nil {
			return err
		}
		if admin.json {
			_, err := cmd.OutOrStdout().Write(answer)
			return err
		}
		return printEdges(cmd, list)
	})
}

func printEdges(cmd *cobra.Command, list []listedEdge) error {
	rows := [][]string{{"EDGE", "ID", "STATE", "VERSION", "CONNECTIONS", "LINKED", "TOKENS", "LAST HEARD OF"}}
	var wrong []string
	for _, edge := range list {
		row := []string{edge.Name, edge.ID, edge.State, "", "", "", "", timestamp(edge.SeenAt)}
		if s := edge.Status; s != nil {
			open := 0
			for _, n := range s.Connections {
				open += n
			}
			row[3], row[4], row[5], row[6] = s.Version, fmt.Sprint(open), yesNo(s.Broker.Linked), "ready"
			if !s.Store.Usable {
				row[6] = "not usable"
			}
			for _, link := range s.Links {
				if link.Code != "" {
					wrong = append(wrong, fmt.Sprintf("%s: %s: %s, since %s: %s (%s)",
						plain(edge.Name), plain(link.Of), plain(link.Code), timestamp(link.Since), plain(link.Reason), plain(link.Error)))
				}
			}
		} else {
			wrong = append(wrong, plain(edge.Name)+": "+plain(edge.Error))
		}
		rows = append(rows, row)
	}
	if err := table(cmd.OutOrStdout(), rows...); err != nil {
		return err
	}
	if len(wrong) > 0 {
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), "\n"+strings.Join(wrong, "\n")); err != nil {
			return err
		}
	}
	for _, edge := range list { // the first one is the one that was called
		if s := edge.Status; s != nil && s.Quorum != nil {
			return printQuorum(cmd, s.Quorum)
		}
	}
	return nil
}

// printQuorum prints the members, and what their number means.
func printQuorum(cmd *cobra.Command, q *quorum) error {
	if len(q.Members) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "\nThe cluster of the NATS servers inside edges has had no leader yet. Its first start needs all edges that `routes` lists.")
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout())
	rows := [][]string{{"NATS MEMBER", "STATE", "SINCE", "BEHIND", "REPLICAS"}}
	for _, m := range q.Members {
		replicas := fmt.Sprint(m.Replicas)
		if m.Lagging > 0 {
			replicas += fmt.Sprintf(", %d lagging", m.Lagging)
		}
		rows = append(rows, []string{m.Name, m.State, timestamp(m.Since), fmt.Sprint(m.Behind), replicas})
	}
	if err := table(cmd.OutOrStdout(), rows...); err != nil {
		return err
	}
	text := fmt.Sprintf("%d of %d members run, and %d must: ", q.Running, len(q.Members), q.Needed)
	switch spare := q.Running - q.Needed; {
	case spare < 0:
		text += "nothing can be stored. Start the offline members."
	case q.Leader == "":
		text += "nothing can be stored, as none of them leads. That takes seconds after a loss."
	case spare == 0 && q.Running < len(q.Members):
		text += "one more loss stops the cluster. Start the offline members, or remove those that do not come back: pubsub edges remove <member>"
	case spare == 0:
		text += "a loss stops the cluster."
	default:
		text += fmt.Sprintf("%d more may be lost.", spare)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), "\n"+text)
	return err
}
