package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func drainCommand() *cobra.Command {
	var (
		admin adminFlags
		reach reachFlags
	)
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Ends the service of an edge: its clients are told to move to another one",
		Long: "Ends the service of an edge: it refuses new clients, and tells connected clients to move\n" +
			"to another edge. At the end of the drain period it disconnects those that stayed. Only a\n" +
			"restart ends a drain.",
		Example: "  pubsub drain\n" +
			"  pubsub drain --edge eu.example.com",
	}
	admin.add(cmd)
	reach.add(cmd, "all edges of the overlay: clients have nowhere to go then")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if err := reach.check(); err != nil {
			return err
		}
		if reach.all {
			return drainAll(cmd, admin)
		}
		path, who := "/pubsub/drain", "The edge" // an edge of an earlier version has this, too
		if reach.edge != "" {
			path, who = drainPath(string(reach.edge)), "Edge "+plain(string(reach.edge))
		}
		return admin.call(cmd, http.MethodPost, path, nil, func([]byte) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is draining; only a restart ends the drain.\n", who)
			return err
		})
	})
}

func drainPath(edge string) string { return "/pubsub/edges/" + url.PathEscape(edge) + "/drain" }

// drainAll drains one edge after the other, the one that is called last: it may be the way
// to the others. One that cannot be drained keeps none of them from it.
func drainAll(cmd *cobra.Command, admin adminFlags) error {
	answer, err := callAdmin(cmd.Context(), string(admin.address), http.MethodGet, "/pubsub/edges", nil)
	if err != nil {
		return err
	}
	var list struct{ Edges []edgeAnswer }
	if err := json.Unmarshal(answer, &list); err != nil {
		return err
	}
	drained := []string{}
	var failed []error
	for i := range list.Edges {
		edge := list.Edges[(i+1)%len(list.Edges)] // this edge is the first
		if _, err := callAdmin(cmd.Context(), string(admin.address), http.MethodPost, drainPath(edge.ID), nil); err != nil {
			failed = append(failed, fmt.Errorf("edge %s: %w", plain(edge.Name), err))
			continue
		}
		drained = append(drained, edge.Name)
		if !admin.json {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Edge %s is draining; only a restart ends the drain.\n", plain(edge.Name)); err != nil {
				return err
			}
		}
	}
	if admin.json {
		failed = append(failed, json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"draining": drained}))
	}
	return errors.Join(failed...)
}
