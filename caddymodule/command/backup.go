package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/tokenstore"
)

func backupCommand() *cobra.Command {
	var address adminFlags
	cmd := &cobra.Command{
		Use:   "backup <file>",
		Short: "Writes all stored tokens to a file, while the edge runs",
		Long: "Writes all stored tokens, master tokens and access tokens, to a new file that only its owner\n" +
			"can read; - is stdout. The file holds the SHA-256 of each secret, not the secret. With a NATS\n" +
			"store, any edge has all tokens. If the backup fails, the file is removed.",
		Example: "  pubsub backup tokens-$(date +%F).backup",
	}
	address.addAddress(cmd)
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		stream, err := openAdmin(cmd.Context(), string(address.address), http.MethodGet, "/pubsub/backup", tokenstore.BackupType, nil)
		if err != nil {
			return err
		}
		defer stream.Close()
		var summary tokenstore.BackupSummary
		if args[0] == "-" {
			summary, err = copyBackup(cmd.OutOrStdout(), stream)
		} else {
			summary, err = saveBackup(args[0], stream)
		}
		if err != nil {
			return err
		}
		cmd.PrintErrf("%d master tokens and %d access tokens\n", summary.MasterTokens, summary.AccessTokens)
		return nil
	})
}

// copyBackup copies a backup, and checks that it is complete.
func copyBackup(to io.Writer, from io.Reader) (tokenstore.BackupSummary, error) {
	return tokenstore.CheckBackup(io.TeeReader(from, to))
}

// saveBackup writes a backup to a new file, and removes the file if that fails.
func saveBackup(name string, from io.Reader) (summary tokenstore.BackupSummary, err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return summary, fmt.Errorf("%s already exists: a backup needs a new file", name)
	} else if err != nil {
		return summary, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(name)
		}
	}()
	if summary, err = copyBackup(f, from); err != nil {
		return summary, err
	}
	if err = f.Sync(); err == nil {
		err = syncFolder(filepath.Dir(name))
	}
	return summary, err
}

// syncFolder writes the names of the files in a folder to disk. Windows cannot do this,
// and does not need it.
func syncFolder(name string) error {
	folder, err := os.Open(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && runtime.GOOS != "windows" {
		return err
	}
	return nil
}

func restoreCommand() *cobra.Command {
	var (
		admin       adminFlags
		mastersOnly bool
		dryRun      bool
	)
	cmd := &cobra.Command{
		Use:   "restore <file>",
		Short: "Adds the tokens of a backup that the edge's store does not have",
		Long: "Adds the tokens of a backup that the edge's store does not have; - is stdin. Tokens that the\n" +
			"store has stay as they are, except that those revoked in the backup are revoked. A restore\n" +
			"can be repeated.\n\n" +
			"Master tokens that were deleted after the backup can be used again. If the store was lost, so can\n" +
			"tokens that were revoked and secrets that were replaced: docs/backups.md says what to do.",
		Example: "  pubsub restore --dry-run tokens.backup\n  pubsub restore --masters-only tokens.backup",
	}
	admin.add(cmd)
	cmd.Flags().BoolVar(&mastersOnly, "masters-only", false, "restore only master tokens: apps then issue new access tokens")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print what would be done, and change nothing")
	return runnable(cmd, argCount{1, 1}, func(cmd *cobra.Command, args []string) error {
		content := cmd.InOrStdin()
		if args[0] != "-" {
			f, err := os.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := tokenstore.CheckBackup(f); err != nil { // before anything is changed
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if _, err := f.Seek(0, io.SeekStart); err != nil {
				return err
			}
			content = f
		}
		path := fmt.Sprintf("/pubsub/restore?masters_only=%t&dry_run=%t", mastersOnly, dryRun)
		stream, err := openAdmin(cmd.Context(), string(admin.address), http.MethodPost, path, tokenstore.BackupType, content)
		if err != nil {
			return err
		}
		defer stream.Close()
		answer, err := io.ReadAll(io.LimitReader(stream, maxAnswer))
		if err != nil {
			return err
		}
		if admin.json {
			_, err := cmd.OutOrStdout().Write(answer)
			return err
		}
		return showRestored(cmd, answer)
	})
}

func showRestored(cmd *cobra.Command, answer []byte) error {
	var got tokenstore.Restored
	if err := json.Unmarshal(answer, &got); err != nil {
		return err
	}
	var rows [][]string
	for _, row := range []struct {
		name string
		n    int
	}{
		{"master tokens restored", got.MasterTokens},
		{"access tokens restored", got.AccessTokens},
		{"of these valid now", got.Valid},
		{"revoked, as in the backup", got.Revoked},
		{"kept as they were", got.Kept},
		{"expired long ago", got.Expired},
		{"left out", got.Skipped},
	} {
		rows = append(rows, []string{row.name, fmt.Sprint(row.n)})
	}
	return table(cmd.OutOrStdout(), rows...)
}
