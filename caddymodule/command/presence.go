package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

const (
	membersPage = 1000      // rows
	maxMembers  = 2_000_000 // that are listed; an edge does not know more
)

func presenceCommand() *cobra.Command {
	var (
		admin           adminFlags
		tenant, subject text
	)
	cmd := &cobra.Command{
		Use:   "presence [--tenant <tenant> [<pattern>]]",
		Short: "Lists who is present in the channels of a tenant, on all edges of the overlay",
		Long: "Lists who is present in the channels of a tenant that a pattern matches, on all edges of\n" +
			"the overlay: those that came first stand first. Without --tenant, it lists how many\n" +
			"members each tenant has.",
		Example: "  pubsub presence\n" +
			"  pubsub presence --tenant paint.room\n" +
			"  pubsub presence --tenant paint.room 'room.*' --subject alice",
	}
	admin.add(cmd)
	cmd.Flags().Var(&tenant, "tenant", "the tenant whose members are listed")
	cmd.Flags().Var(&subject, "subject", "only this subject: where it is")
	return runnable(cmd, argCount{0, 1}, func(cmd *cobra.Command, args []string) error {
		if tenant == "" {
			if len(args) > 0 || subject != "" {
				return usagef("a pattern and --subject need --tenant")
			}
			return listPresences(cmd, admin)
		}
		query := url.Values{"tenant": {string(tenant)}}
		if len(args) > 0 {
			query.Set("pattern", args[0])
		}
		if subject != "" {
			query.Set("subject", string(subject))
		}
		list, err := allMembers(cmd, string(admin.address), query)
		if err != nil {
			return err
		}
		if admin.json {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
		}
		rows := [][]string{{"CHANNEL", "SUBJECT", "SINCE", "INFO"}}
		for _, m := range list.Members {
			rows = append(rows, []string{m.Channel, m.Subject, timestamp(m.Since), string(m.Info)})
		}
		return table(cmd.OutOrStdout(), rows...)
	})
}

// membersAnswer is a page of members, or all of them.
type membersAnswer struct {
	Members    []listedMember  `json:"members"`
	NextCursor string          `json:"next_cursor,omitempty"`
	Total      json.RawMessage `json:"total"`
}

// listedMember is a subject in a channel.
type listedMember struct {
	Channel string          `json:"channel"`
	Subject string          `json:"subject"`
	Since   time.Time       `json:"since"`
	Info    json.RawMessage `json:"info,omitempty"`
}

// allMembers gets page after page. A list that changes meanwhile may have members that have
// left since, and nobody twice.
func allMembers(cmd *cobra.Command, address string, query url.Values) (list membersAnswer, err error) {
	list.Members = []listedMember{}
	at := map[[2]string]int{}
	query.Set("limit", strconv.Itoa(membersPage))
	for {
		answer, err := callAdmin(cmd.Context(), address, http.MethodGet, "/pubsub/presences/members?"+encode(query), nil)
		if err != nil {
			return list, err
		}
		var page membersAnswer
		if err := json.Unmarshal(answer, &page); err != nil {
			return list, err
		}
		list.Total = page.Total
		for _, m := range page.Members {
			key := [2]string{m.Channel, m.Subject}
			if i, listed := at[key]; listed { // it has changed since
				list.Members[i] = m
				continue
			}
			at[key] = len(list.Members)
			list.Members = append(list.Members, m)
		}
		if page.NextCursor == "" {
			return list, nil
		}
		if len(list.Members) >= maxMembers {
			return list, fmt.Errorf("there are more than %d members: list some, by a pattern", maxMembers)
		}
		query.Set("cursor", page.NextCursor)
	}
}

// presencesAnswer is a page of tenants that have members, or all of them.
type presencesAnswer struct {
	Presences  []tenantPresence `json:"presences"`
	NextCursor string           `json:"next_cursor,omitempty"`
	Totals     json.RawMessage  `json:"totals"`
}

// tenantPresence is how many members a tenant has in a presence.
type tenantPresence struct {
	Presence string `json:"presence"`
	Tenant   string `json:"tenant"`
	Members  int    `json:"members"`
}

func listPresences(cmd *cobra.Command, admin adminFlags) error {
	list := presencesAnswer{Presences: []tenantPresence{}}
	query := url.Values{"limit": {strconv.Itoa(membersPage)}}
	for {
		answer, err := callAdmin(cmd.Context(), string(admin.address), http.MethodGet, "/pubsub/presences?"+encode(query), nil)
		if err != nil {
			return err
		}
		var page presencesAnswer
		if err := json.Unmarshal(answer, &page); err != nil {
			return err
		}
		list.Totals, list.Presences = page.Totals, append(list.Presences, page.Presences...)
		if page.NextCursor == "" || len(list.Presences) >= maxMembers {
			break
		}
		query.Set("cursor", page.NextCursor)
	}
	if admin.json {
		return json.NewEncoder(cmd.OutOrStdout()).Encode(list)
	}
	rows := [][]string{{"PRESENCE", "TENANT", "MEMBERS"}}
	for _, p := range list.Presences {
		rows = append(rows, []string{p.Presence, p.Tenant, fmt.Sprint(p.Members)})
	}
	return table(cmd.OutOrStdout(), rows...)
}
