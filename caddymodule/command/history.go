package command

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func historyCommand() *cobra.Command {
	return group(&cobra.Command{Use: "history <command>", Short: "Shows and deletes what histories keep"},
		historyListCommand(), historyReadCommand(), historyPurgeCommand())
}

func historyReadCommand() *cobra.Command {
	var admin adminFlags
	var after text
	var limit int
	cmd := &cobra.Command{
		Use:   "read <history> <tenant> <pattern>",
		Short: "Prints the messages that are kept of a pattern, oldest first",
		Long: "Prints the messages that are kept of a pattern, oldest first: when each was stored, its\n" +
			"channel, whose it is (sender=\"<subject>\" of the token that published it), and\n" +
			"its payload, with what a terminal cannot show escaped.",
	}
	admin.add(cmd)
	cmd.Flags().Var(&after, "after", "begin behind this position")
	cmd.Flags().IntVar(&limit, "limit", 0, "print at most so many; 0: all")
	return runnable(cmd, argCount{3, 3}, func(cmd *cobra.Command, args []string) error {
		if limit < 0 {
			return usagef("--limit: must be 0 or more")
		}
		next, left := string(after), limit
		for {
			body := map[string]any{"history": args[0], "tenant": args[1], "pattern": args[2], "after": next}
			if limit > 0 {
				body["limit"] = min(left, 1000)
			}
			n := 0
			err := admin.call(cmd, http.MethodPost, "/pubsub/histories/read", body, func(answer []byte) (err error) {
				next, n, err = printKept(cmd.OutOrStdout(), answer)
				return err
			})
			left -= n
			if err != nil || admin.json || next == "" || limit > 0 && left <= 0 {
				return err
			}
		}
	})
}

// printKept prints a page of messages.
func printKept(w io.Writer, answer []byte) (next string, n int, err error) {
	var page struct {
		Messages []struct {
			Time    time.Time `json:"time"`
			Channel string    `json:"channel"`
			Sender  string    `json:"sender"`
			Payload []byte    `json:"payload"`
		} `json:"messages"`
		Next string `json:"next"`
	}
	if err := json.Unmarshal(answer, &page); err != nil {
		return "", 0, err
	}
	for _, m := range page.Messages {
		// Also of nobody, and quoted: no payload and no subject can pass for another sender.
		if _, err := fmt.Fprintf(w, "%s %s sender=%q %s\n", timestamp(m.Time), plain(m.Channel), m.Sender, plain(string(m.Payload))); err != nil {
			return "", 0, err
		}
	}
	return page.Next, len(page.Messages), nil
}

func historyPurgeCommand() *cobra.Command {
	var admin adminFlags
	var tenant, channel text
	var all bool
	cmd := &cobra.Command{
		Use:   "purge <history> --tenant <tenant> [--channel <channel>] | --all",
		Short: "Deletes for good what is kept of a channel, a tenant or a whole history",
		Long: "Deletes for good what is kept of a channel, a tenant or a whole history. Subscribers that\n" +
			"resume from before are notified of a gap.",
	}
	admin.add(cmd)
	cmd.Flags().Var(&tenant, "tenant", "of this tenant")
	cmd.Flags().Var(&channel, "channel", "of this channel alone")
	cmd.Flags().BoolVar(&all, "all", false, "of all tenants")
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		if all == (tenant != "") || all && channel != "" {
			return usagef("give either --tenant, perhaps with --channel, or --all")
		}
		body := map[string]any{"history": args[0], "all": all}
		for name, value := range map[string]text{"tenant": tenant, "channel": channel} {
			if value != "" {
				body[name] = value
			}
		}
		return admin.call(cmd, http.MethodPost, purgePath, body, func(answer []byte) error {
			var purged struct {
				Removed int `json:"removed"`
			}
			if err := json.Unmarshal(answer, &purged); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%d messages are deleted.\n", purged.Removed)
			return err
		})
	})
}
