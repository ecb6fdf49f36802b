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
			"to another edge. At the end of the drain period it disconnects those that stayed. undrain\n" +
			"takes it back; otherwise a restart ends a drain.",
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
			return allEdges(cmd, admin, http.MethodPost, "draining", isDraining)
		}
		path, who := "/pubsub/drain", "The edge" // an edge of an earlier version has this, too
		if reach.edge != "" {
			path, who = drainPath(string(reach.edge)), "Edge "+plain(string(reach.edge))
		}
		err := admin.call(cmd, http.MethodPost, path, nil, func([]byte) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", who, isDraining)
			return err
		})
		if err != nil || !wait {
			return err
		}
		return awaitDrained(cmd, admin, reach.one())
	})
}

const (
	isDraining = "is draining; undrain takes that back."
	isServing  = "takes clients; those that were told to move before still go."
)

func undrainCommand() *cobra.Command {
	var (
		admin adminFlags
		reach reachFlags
	)
	cmd := &cobra.Command{
		Use:   "undrain",
		Short: "Takes a drain back: an edge takes clients again",
		Long: "Takes a drain back: the edge takes new clients again, and tells nobody else to move. Clients\n" +
			"that it told before still go, and are disconnected at the end of the drain period if they\n" +
			"do not. An edge that does not drain stays as it is; one that stops refuses.",
		Example: "  pubsub undrain\n" +
			"  pubsub undrain --edge eu.example.com",
	}
	admin.add(cmd)
	reach.add(cmd, "all edges of the overlay")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if err := reach.check(); err != nil {
			return err
		}
		if reach.all {
			return allEdges(cmd, admin, http.MethodDelete, "serving", isServing)
		}
		who := "The edge"
		if reach.edge != "" {
			who = "Edge " + plain(string(reach.edge))
		}
		return admin.call(cmd, http.MethodDelete, drainPath(reach.one()), nil, func([]byte) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", who, isServing)
			return err
		})
	})
}

// awaitDrained returns when an edge has no clients any more, or an error if it does not say how
// many it has, or its drain was taken back.
func awaitDrained(cmd *cobra.Command, admin adminFlags, edge string) error {
	query := "/pubsub/connections?" + encode(url.Values{"edge": {edge}, "limit": {"1"}})
	for drained := false; ; {
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
		case drained && !list.Edges[0].Draining:
			return errors.New("the drain was taken back (undrain): the edge takes clients again")
		}
		drained = list.Edges[0].Draining // an edge of an earlier version does not say so
		select {
		case <-time.After(drainPoll):
		case <-cmd.Context().Done():
			return cmd.Context().Err()
		}
	}
}

const drainPoll = time.Second / 4

func drainPath(edge string) string { return "/pubsub/edges/" + url.PathEscape(edge) + "/drain" }

// allEdges drains one edge after the other, or takes that back, the one that is called last: it
// may be the way to the others. One that fails keeps none of them from it. done and says are what
// is printed about each that does it, as JSON and for people.
func allEdges(cmd *cobra.Command, admin adminFlags, method, done, says string) error {
	list, _, err := listEdges(cmd, admin)
	if err != nil {
		return err
	}
	names := []string{}
	var failed []error
	for i := range list {
		edge := list[(i+1)%len(list)] // this edge is the first
		if edge.Lost {
			noteSilent(cmd, []string{edge.Name})
			continue
		}
		if _, err := callAdmin(cmd.Context(), string(admin.address), method, drainPath(edge.ID), nil); err != nil {
			failed = append(failed, fmt.Errorf("edge %s: %w", plain(edge.Name), err))
			continue
		}
		names = append(names, edge.Name)
		if !admin.json {
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Edge %s %s\n", plain(edge.Name), says); err != nil {
				return err
			}
		}
	}
	if admin.json {
		failed = append(failed, json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{done: names}))
	}
	return errors.Join(failed...)
}
