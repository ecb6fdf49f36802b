package command

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/pubsub"
)

func connectionsCommand() *cobra.Command {
	var admin adminFlags
	cmd := &cobra.Command{Use: "connections", Short: "Lists the open connections of an edge, oldest first"}
	admin.add(cmd)
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		return admin.call(cmd, http.MethodGet, "/pubsub/connections", nil, func(answer []byte) error {
			var list struct {
				Connections []pubsub.Stat `json:"connections"`
			}
			if err := json.Unmarshal(answer, &list); err != nil {
				return err
			}
			rows := [][]string{{"ID", "TOKEN ID", "IP", "TRANSPORT", "SINCE", "EXPIRES", "SUBSCRIPTIONS", "QUEUED BYTES", "DROPPED", "DRAINING"}}
			for _, c := range list.Connections {
				rows = append(rows, []string{
					fmt.Sprint(c.ID), c.TokenID, c.IP, c.Transport, timestamp(c.Since), timestamp(c.ExpiresAt),
					fmt.Sprint(c.Subscriptions), fmt.Sprint(c.QueuedBytes), fmt.Sprint(c.Dropped), yesNo(c.Draining),
				})
			}
			return table(cmd.OutOrStdout(), rows...)
		})
	})
}

func drainCommand() *cobra.Command {
	var admin adminFlags
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Ends the service of an edge: its clients are told to move to another one",
		Long: "Ends the service of an edge: it refuses new clients, and tells connected clients to move\n" +
			"to another edge. At the end of the drain period it disconnects those that stayed. Only a\n" +
			"restart ends a drain.",
	}
	admin.add(cmd)
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		return admin.call(cmd, http.MethodPost, "/pubsub/drain", nil, func([]byte) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "The edge is draining; only a restart ends the drain.")
			return err
		})
	})
}
