package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// removed is how far the removal of a member is.
type removed struct {
	Member  string   `json:"member"`
	Removed bool     `json:"removed"`
	Moving  []string `json:"moving"`
	Short   []string `json:"short"`
}

func edgesRemoveCommand() *cobra.Command {
	var admin adminFlags
	var running, lost bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "remove <member>",
		Short: "Removes an edge with NATS inside from the cluster for good",
		Long: "Removes an edge with NATS inside from the cluster for good: the others need no vote of it any\n" +
			"more, and its replicas of tokens and histories are made on them. Stop the edge first, since\n" +
			"one that runs would join again; or use --running, which moves its replicas while it runs, and\n" +
			"stop it then. The member is named by the `name` in the edge's block `embedded`, as `pubsub\n" +
			"edges` lists it. Any other edge of the cluster can be asked.\n" +
			"The command waits until all replicas have everything. It can be repeated.",
		Example: "  pubsub edges remove edge-4",
	}
	admin.add(cmd)
	cmd.Flags().BoolVar(&running, "running", false, "the edge runs: move its replicas before it is removed. Stop it after that")
	cmd.Flags().BoolVar(&lost, "lost", false, "its disk is lost, too: streams with too few replicas may lose what only it had")
	cmd.Flags().DurationVar(&wait, "wait", 10*time.Minute, "how long to wait until all replicas have everything")
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		if wait < 0 {
			return usagef("--wait: must be 0 or more")
		}
		if args[0] == "" {
			return usagef("the name of the member is missing; `pubsub edges` lists them")
		}
		path := "/pubsub/members/" + url.PathEscape(args[0]) + "/remove"
		shown := ""
		for end := time.Now().Add(wait); ; {
			answer, err := callAdmin(cmd.Context(), string(admin.address), http.MethodPost, path, map[string]any{"running": running, "lost": lost})
			if err != nil {
				return err
			}
			var done removed
			if err := json.Unmarshal(answer, &done); err != nil {
				return err
			}
			complete := done.Removed && len(done.Moving) == 0
			late := !complete && time.Now().After(end)
			if admin.json && (complete || late) {
				if _, err := cmd.OutOrStdout().Write(answer); err != nil {
					return err
				}
			}
			if now := strings.Join(done.Moving, "; "); !complete && now != shown {
				cmd.PrintErrln(plain(done.Member + ": " + now))
				shown = now
			}
			switch {
			case late && done.Removed:
				return errors.New("it is removed, but not all replicas have everything yet; repeat the command to wait on")
			case late:
				return errors.New("it is not removed yet; repeat the command to go on")
			case complete && !admin.json:
				return printRemoved(cmd, done, running)
			case complete:
				return nil
			}
		}
	})
}

func printRemoved(cmd *cobra.Command, done removed, running bool) error {
	text := plain(done.Member) + " is removed from the cluster."
	if running {
		text += " Stop its edge now: after a restart it joins again."
	}
	for _, short := range done.Short {
		text += "\n" + plain(short)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}
