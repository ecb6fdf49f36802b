package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/caddymodule/demo"
	"github.com/millrace/millrace/tokenstore"
)

// devReady is what `dev --json` prints, as one line, when the edge serves.
type devReady struct {
	HTTP            string `json:"http"`  // origin
	HTTPS           string `json:"https"` // origin
	CAFile          string `json:"ca_file"`
	DataDir         string `json:"data_dir"`
	Admin           string `json:"admin"` // for --address and $CADDY_ADMIN
	MasterToken     string `json:"master_token"`
	Tenant          string `json:"tenant"`
	AccessToken     string `json:"access_token,omitempty"` // with --token
	ConsoleUser     string `json:"console_user"`
	ConsolePassword string `json:"console_password"`
}

// printJSON creates tokens, waits until the edge serves, and prints where it is.
func (d *devEdge) printJSON(ctx context.Context, cmd *cobra.Command) error {
	ready := devReady{
		HTTP: fmt.Sprintf("http://localhost:%d", d.httpPort), HTTPS: fmt.Sprintf("https://localhost:%d", d.httpsPort),
		CAFile: d.rootFile(), DataDir: d.dir, Admin: d.admin, Tenant: demo.Tenant,
		ConsoleUser: devOperator, ConsolePassword: d.password,
	}
	var err error
	if ready.MasterToken, err = d.createMaster(ctx); err != nil {
		return err
	}
	if d.token {
		access, err := d.issue(ctx, "dev", "dev", tokenstore.MaxLifetime)
		if err != nil {
			return err
		}
		ready.AccessToken = access.Token
	}
	if err := d.awaitReady(ctx); err != nil {
		return err
	}
	return json.NewEncoder(cmd.OutOrStdout()).Encode(ready)
}

// makeTemporary makes a data folder that is removed when the edge has ended.
func (d *devEdge) makeTemporary() (err error) {
	d.dir, err = os.MkdirTemp("", "millrace-dev-")
	if err != nil {
		return fmt.Errorf("no temporary folder for the data: %w: choose a folder with --dir", err)
	}
	d.temporary = true
	return nil
}

// removeTemporary removes such a folder. The edge may still write to it.
func (d *devEdge) removeTemporary() {
	if !d.temporary {
		return
	}
	for range 20 {
		if os.RemoveAll(d.dir) == nil {
			return
		}
	}
}

// exitWithStdin ends the process when its standard input ends: whoever started it is gone,
// and so are those whom the edge would give time to leave.
func (d *devEdge) exitWithStdin(in io.Reader) {
	_, _ = io.Copy(io.Discard, in) // an error is the end, too
	d.removeTemporary()
	os.Exit(0)
}

// socket is the admin endpoint in the data folder.
func (d *devEdge) socket() string {
	return "unix/" + filepath.ToSlash(filepath.Join(d.dir, "admin.sock"))
}
