package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/pubsub/history"
)

// historyListing is the answer of the list of histories.
type historyListing struct {
	Histories []struct {
		History  string    `json:"history"`
		Tenant   string    `json:"tenant"`
		Channels int       `json:"channels"`
		Messages int       `json:"messages"`
		Bytes    int64     `json:"bytes"`
		Oldest   time.Time `json:"oldest"`
	} `json:"histories"`
	Totals []historyListed `json:"totals"`
}

// historyListed is a history and how it stands at the edge.
type historyListed struct {
	History   string `json:"history"`
	Effective *struct {
		Version       int     `json:"version"`
		Messages      int     `json:"messages"`
		AgeSeconds    float64 `json:"age_seconds"`
		Size          int64   `json:"size"`
		MaxLagSeconds float64 `json:"max_lag_seconds"`
	} `json:"effective"`
	Drift  []history.Difference `json:"drift"`
	Remedy string               `json:"remedy"`
	Error  string               `json:"error"`
}

func historyListCommand() *cobra.Command {
	var admin adminFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Lists what is kept, by history and tenant, and the limits of each history",
		Long: "Lists what is kept, by history and tenant, and the limits of each history that all edges\n" +
			"follow. DRIFT has in what the edge's configuration differs from these. A history that cannot\n" +
			"be used is named with the reason, and the exit code is 1 then.",
	}
	admin.add(cmd)
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		return admin.call(cmd, http.MethodGet, "/pubsub/histories", nil, func(answer []byte) error {
			var list historyListing
			if err := json.Unmarshal(answer, &list); err != nil {
				return err
			}
			return printHistories(cmd.OutOrStdout(), &list)
		})
	})
}

func printHistories(w io.Writer, list *historyListing) error {
	rows := [][]string{{"HISTORY", "TENANT", "CHANNELS", "MESSAGES", "BYTES", "OLDEST"}}
	for _, h := range list.Histories {
		rows = append(rows, []string{h.History, h.Tenant, fmt.Sprint(h.Channels), fmt.Sprint(h.Messages), fmt.Sprint(h.Bytes), timestamp(h.Oldest)})
	}
	if err := table(w, rows...); err != nil || len(list.Totals) == 0 {
		return err
	}
	var notes, unusable []string
	rows = [][]string{{"HISTORY", "VERSION", "MESSAGES", "AGE", "SIZE", "MAX_LAG", "DRIFT"}}
	for _, h := range list.Totals {
		drift := "none"
		if len(h.Drift) > 0 {
			fields := []string{}
			for _, d := range h.Drift {
				fields = append(fields, d.Field)
			}
			drift = strings.Join(fields, ",")
			notes = append(notes, fmt.Sprintf("%s is kept otherwise than this edge has configured: %s. To change this: %s.", h.History, history.DriftText(h.Drift), h.Remedy))
		}
		if h.Error != "" {
			unusable = append(unusable, plain(h.History+" cannot be used: "+h.Error))
		}
		if e := h.Effective; e != nil {
			rows = append(rows, []string{
				h.History, fmt.Sprint(e.Version), fmt.Sprint(e.Messages), seconds(e.AgeSeconds), fmt.Sprint(e.Size), seconds(e.MaxLagSeconds), drift,
			})
		}
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := table(w, rows...); err != nil {
		return err
	}
	for _, note := range notes {
		if _, err := fmt.Fprintf(w, "\n%s\n", plain(note)); err != nil {
			return err
		}
	}
	if len(unusable) > 0 {
		return errors.New(strings.Join(unusable, "\n"))
	}
	return nil
}

func seconds(n float64) string { return history.DurationText(time.Duration(n * float64(time.Second))) }
