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
	} `json:"status"`
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
			"silent; and below the table what keeps an edge from its servers. The exit code is 0 if the\n" +
			"edge that is called answers, whatever it says of the others.",
		Example: "  pubsub edges\n" +
			"  pubsub edges --json",
	}
	admin.add(cmd)
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
	if err := table(cmd.OutOrStdout(), rows...); err != nil || len(wrong) == 0 {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), "\n"+strings.Join(wrong, "\n"))
	return err
}
