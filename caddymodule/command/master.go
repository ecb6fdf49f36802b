package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/tokenstore"
)

func masterTokenCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "master-token <command>",
		Short: "Manages master tokens, with which apps issue access tokens",
	}, masterCreate(), masterList(), masterUpdate(), masterRotate(), masterDelete())
}

const shownOnce = "The token is shown only once: keep it where only its app can read it."

// masterFlags are the flags that describe a master token.
type masterFlags struct {
	name, description, prefix text
	masks                     texts
	quota                     tokenstore.Quota
}

func (f *masterFlags) add(cmd *cobra.Command) {
	cmd.Flags().Var(&f.name, "name", "short label, 1 to 64 characters")
	cmd.Flags().Var(&f.description, "description", "comment, at most 512 characters")
	allowEmpty(cmd, "description")
	cmd.Flags().Var(&f.prefix, "tenant-prefix", "namespace of the app, like paint. (without one: every tenant)")
	cmd.Flags().Var(&f.masks, "ip-mask", "address or CIDR that may use the token; repeatable (none: any address)")
	cmd.Flags().IntVar(&f.quota.MaxTokens, "max-tokens", 0, "most access tokens that it may have at a time, each until a day after it expires (0: the edge's default)")
	cmd.Flags().Int64Var(&f.quota.MaxBytes, "max-bytes", 0, "most bytes that these access tokens may take in the store (0: the edge's default)")
	cmd.Flags().IntVar(&f.quota.CallsPerSecond, "calls-per-second", 0, "most calls to an edge per second (0: the edge's default)")
}

func masterCreate() *cobra.Command {
	var (
		admin  adminFlags
		flags  masterFlags
		static bool
		quiet  bool
	)
	cmd := &cobra.Command{
		Use:   "create --name <label>",
		Short: "Creates a master token and shows it once",
		Long: "Creates a master token and shows it once.\n\n" +
			"With --static it is not stored: it is created here, without an edge, and shown with\n" +
			"the lines for the global block pubsub of a Caddyfile, which hold only its hash.",
		Example: "  pubsub master-token create --name paint --tenant-prefix paint. --ip-mask 10.0.0.0/8\n" +
			"  pubsub master-token create --name paint --tenant-prefix paint. --static",
	}
	admin.add(cmd)
	flags.add(cmd)
	cmd.Flags().BoolVar(&static, "static", false, "create a token for the Caddyfile, without an edge")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the token")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if flags.name == "" {
			return usagef("--name is required: a label of 1 to 64 characters")
		}
		if quiet && (static || admin.json) {
			return usagef("--quiet cannot be combined with --static or --json")
		}
		spec := tokenstore.MasterSpec{
			Name: string(flags.name), Description: string(flags.description),
			TenantPrefix: string(flags.prefix), AllowIPMasks: flags.masks, Quota: flags.quota,
		}
		if static {
			return createStatic(cmd, spec, admin.json)
		}
		return admin.call(cmd, http.MethodPost, "/pubsub/master-tokens", spec, func(answer []byte) error {
			if quiet {
				return showSecret(cmd, answer)
			}
			return showMaster(cmd, answer)
		})
	})
}

func masterList() *cobra.Command {
	var admin adminFlags
	cmd := &cobra.Command{Use: "list", Short: "Lists the master tokens, without their secrets"}
	admin.add(cmd)
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		return admin.call(cmd, http.MethodGet, "/pubsub/master-tokens", nil, func(answer []byte) error {
			var list struct {
				Masters []tokenstore.Master `json:"master_tokens"`
			}
			if err := json.Unmarshal(answer, &list); err != nil {
				return err
			}
			rows := [][]string{{"ID", "NAME", "TENANT PREFIX", "IP MASKS", "STATIC", "CREATED", "DESCRIPTION"}}
			for _, m := range list.Masters {
				rows = append(rows, []string{
					m.ID, m.Name, m.TenantPrefix, strings.Join(m.AllowIPMasks, " "), yesNo(m.Static), timestamp(m.CreatedAt), m.Description,
				})
			}
			return table(cmd.OutOrStdout(), rows...)
		})
	})
}

func masterUpdate() *cobra.Command {
	var (
		admin adminFlags
		flags masterFlags
	)
	cmd := &cobra.Command{
		Use:   "update <id>",
		Short: "Changes the properties of a master token that the flags name",
		Long: "Changes the properties of a master token that the flags name. --ip-mask '' removes all masks,\n" +
			"and --tenant-prefix '' the prefix: then it may manage every tenant.",
		Example: "  pubsub master-token update 0123456789abcdef0123456789abcdef --name paint-2 --ip-mask 10.0.0.0/8",
	}
	admin.add(cmd)
	flags.add(cmd)
	allowEmpty(cmd, "tenant-prefix")
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		var patch tokenstore.MasterPatch
		for name, set := range map[string]func(){
			"name":          func() { patch.Name = (*string)(&flags.name) },
			"description":   func() { patch.Description = (*string)(&flags.description) },
			"tenant-prefix": func() { patch.TenantPrefix = (*string)(&flags.prefix) },
			"ip-mask": func() {
				if len(flags.masks) == 1 && flags.masks[0] == "" {
					flags.masks = texts{}
				}
				patch.AllowIPMasks = (*[]string)(&flags.masks)
			},
			"max-tokens":       func() { patch.MaxTokens = &flags.quota.MaxTokens },
			"max-bytes":        func() { patch.MaxBytes = &flags.quota.MaxBytes },
			"calls-per-second": func() { patch.CallsPerSecond = &flags.quota.CallsPerSecond },
		} {
			if cmd.Flags().Changed(name) {
				set()
			}
		}
		if patch == (tokenstore.MasterPatch{}) {
			return usagef("nothing to change; allowed: --name, --description, --tenant-prefix, --ip-mask, --max-tokens, --max-bytes, --calls-per-second")
		}
		return admin.call(cmd, http.MethodPatch, masterPath(args[0]), patch, func(answer []byte) error {
			return showMaster(cmd, answer)
		})
	})
}

func masterRotate() *cobra.Command {
	var (
		admin  adminFlags
		revoke bool
		quiet  bool
	)
	cmd := &cobra.Command{
		Use:   "rotate <id>",
		Short: "Gives a master token a new secret and shows it once",
		Long: "Gives a master token a new secret and shows it once; the old secret stops working.\n" +
			"The access tokens that it issued stay valid, unless --revoke-tokens is given.",
	}
	admin.add(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke-tokens", false, "also revoke the access tokens that it issued")
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print only the token")
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		if quiet && admin.json {
			return usagef("--quiet and --json cannot be combined")
		}
		body := map[string]bool{"revoke_tokens": revoke}
		return admin.call(cmd, http.MethodPost, masterPath(args[0])+"/rotate", body, func(answer []byte) error {
			if quiet {
				return showSecret(cmd, answer)
			}
			if err := showMaster(cmd, answer); err != nil || !revoke {
				return err
			}
			return showRevoked(cmd, answer)
		})
	})
}

func masterDelete() *cobra.Command {
	var (
		admin  adminFlags
		revoke bool
	)
	cmd := &cobra.Command{
		Use:   "delete <id>",
		Short: "Deletes a master token",
		Long: "Deletes a master token. The access tokens that it issued stay valid, unless\n" +
			"--revoke-tokens is given.",
	}
	admin.add(cmd)
	cmd.Flags().BoolVar(&revoke, "revoke-tokens", false, "also revoke the access tokens that it issued")
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		body := map[string]bool{"revoke_tokens": revoke}
		return admin.call(cmd, http.MethodDelete, masterPath(args[0]), body, func(answer []byte) error {
			fmt.Fprintln(cmd.OutOrStdout(), "deleted")
			if !revoke {
				return nil
			}
			return showRevoked(cmd, answer)
		})
	})
}

func masterPath(id string) string { return "/pubsub/master-tokens/" + url.PathEscape(id) }

// showSecret prints the secret of a token, or a master token, alone, for scripts.
func showSecret(cmd *cobra.Command, answer []byte) error {
	var m struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return err
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), m.Token)
	return err
}

// showMaster prints a master token, with its secret if the answer has it.
func showMaster(cmd *cobra.Command, answer []byte) error {
	var m struct {
		tokenstore.Master
		Token string `json:"token"`
	}
	if err := json.Unmarshal(answer, &m); err != nil {
		return err
	}
	rows := [][]string{
		{"id", m.ID},
		{"name", m.Name},
		{"description", m.Description},
		{"tenant prefix", m.TenantPrefix},
		{"ip masks", strings.Join(m.AllowIPMasks, " ")},
	}
	for _, quota := range []struct {
		name  string
		value int64
	}{
		{"max tokens", int64(m.MaxTokens)}, {"max bytes", m.MaxBytes}, {"calls per second", int64(m.CallsPerSecond)},
	} {
		if quota.value > 0 { // else it is the edge's default
			rows = append(rows, []string{quota.name, fmt.Sprint(quota.value)})
		}
	}
	if m.Token != "" {
		rows = append(rows, []string{"token", m.Token})
		cmd.PrintErrln(shownOnce)
	}
	return table(cmd.OutOrStdout(), rows...)
}

func showRevoked(cmd *cobra.Command, answer []byte) error {
	var got struct {
		Revoked int `json:"revoked_tokens"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return err
	}
	return table(cmd.OutOrStdout(), []string{"revoked access tokens", fmt.Sprint(got.Revoked)})
}
