package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

func drainCommand() *cobra.Command {
	var (
		admin adminFlags
		reach reachFlags
		wait  bool
	)
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Ends the service of an edge: its clients are told to move to another one",
		Long: "Ends the service of an edge: it refuses new clients, and tells connected clients to move\n" +
			"to another edge. At the end of the drain period it disconnects those that stayed. Only a\n" +
			"restart ends a drain.",
		Example: "  pubsub drain --wait\n" +
			"  pubsub drain --edge eu.example.com",
	}
	admin.add(cmd)
	reach.add(cmd, "all edges of the overlay: clients have nowhere to go then")
	cmd.Flags().BoolVar(&wait, "wait", false, "return when the edge has no clients any more, at the latest at the end of the drain period")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if err := reach.check(); err != nil {
			return err
		}
		if reach.all {
			if wait {
				return usagef("--wait and --all cannot be combined")
			}
			return drainAll(cmd, admin)
		}
		path, who := "/pubsub/drain", "The edge" // an edge of an earlier version has this, too
		if reach.edge != "" {
			path, who = drainPath(string(reach.edge)), "Edge "+plain(string(reach.edge))
		}
		err := admin.call(cmd, http.MethodPost, path, nil, func([]byte) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s is draining; only a restart ends the drain.\n", who)
			return err
		})
		if err != nil || !wait {
			return err
		}
		return awaitDrained(cmd, admin, reach.one())
	})
}

// awaitDrained returns when an edge has no clients any more, or an error if it does not say how
// many it has.
func awaitDrained(cmd *cobra.Command, admin adminFlags, edge string) error {
	query := "/pubsub/connections?" + encode(url.Values{"edge": {edge}, "limit": {"1"}})
	for {
		answer, err := callAdmin(cmd.Context(), string(admin.address), http.MethodGet, query, nil)
		if err != nil {
			return err
		}
		var list connectionsAnswer
		if err := json.Unmarshal(answer, &list); err != nil {
			return err
		}
		switch {
		case len(list.Edges) != 1 || !list.Edges[0].Answered:
			return errors.New("the edge drains, but does not say how many clients it has")
		case list.Edges[0].Total == 0:
			return nil
		}
		select {
		case <-time.After(drainPoll):
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		}
	}
}

const drainPoll = time.Second / 4

func drainPath(edge string) string { return "/pubsub/edges/" + url.PathEscape(edge) + "/drain" }

// drainAll drains one edge after the other, the one that is called last: it may be the way
// to the others. One that cannot be drained keeps none of them from it.
func drainAll(cmd *cobra.Command, admin adminFlags) error {
	list, _, err := listEdges(cmd, admin)
	if err != nil {
		return err
	}
	drained := []string{}
	var failed []error
	for i := range list {
		edge := list[(i+1)%len(list)] // this edge is the first
		if edge.Lost {
			noteSilent(cmd, []string{edge.Name})
			continue
		}
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
