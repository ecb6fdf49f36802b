package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/millrace/millrace/caddymodule/demo"
	"github.com/millrace/millrace/tokenstore"
)

const (
	devHTTPS = 8443
	devHTTP  = 8080
	devAdmin = "localhost:2019"

	devOperator = "dev" // of the console
)

func devCommand() *cobra.Command {
	var (
		d          devEdge
		dir, admin text
	)
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Runs an edge for development on localhost, with tokens and the commands to try it",
		Long: "Runs an edge for development on https://localhost:8443 and http://localhost:8080, only\n" +
			"on loopback. It serves a page to try it in a browser, http://localhost:8080/demo, and a\n" +
			"console to administer it, http://localhost:8080/console, and prints the console's password\n" +
			"and the commands to try it in a terminal. It needs no root rights and changes no\n" +
			"trust store. All its data is in one folder, which it names: by default millrace-dev in\n" +
			"the user's cache folder, which is outside of any repository and can be deleted.\n\n" +
			"The first start creates a master token and shows it once; each start shows a new access\n" +
			"token, which is valid for 24 hours.",
		Example: "  pubsub dev\n" +
			"  pubsub dev --dir ./data --https-port 9443 --http-port 9080 --admin localhost:9019",
	}
	admin = devAdmin
	cmd.Flags().Var(&dir, "dir", "data folder, created if missing")
	cmd.Flags().IntVar(&d.httpsPort, "https-port", devHTTPS, "port of HTTPS, and over UDP of HTTP/3")
	cmd.Flags().IntVar(&d.httpPort, "http-port", devHTTP, "port of plain HTTP")
	cmd.Flags().Var(&admin, "admin", "admin endpoint, on loopback or a Unix socket")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		d.admin = string(admin)
		if d.httpPort == d.httpsPort {
			return usagef("--http-port and --https-port must differ")
		}
		if err := d.makeDir(string(dir)); err != nil {
			return err
		}
		d.password = rand.Text()
		return d.run(cmd)
	})
}

// A devEdge is the edge that the command dev runs.
type devEdge struct {
	dir                 string // absolute
	httpsPort, httpPort int
	admin               string
	password            string // of devOperator, another one with each start
}

// makeDir creates the data folder, which other users cannot read. A folder that exists
// keeps its permissions: secrets are in folders below it, which other users cannot read
// in any case.
func (d *devEdge) makeDir(dir string) error {
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return usagef("there is no cache folder for the data (%w): choose a folder with --dir", err)
		}
		dir = filepath.Join(cache, "millrace-dev")
	}
	var err error
	if d.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if _, ok := caddyQuote(d.dir); !ok {
		return usagef("--dir: the folder's path must not contain braces, backticks or line breaks")
	}
	for _, folder := range []string{d.dir, d.storage(), d.tokens()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("--dir: %w", err)
		}
	}
	return nil
}

func (d *devEdge) storage() string { return filepath.Join(d.dir, "caddy") }
func (d *devEdge) tokens() string  { return filepath.Join(d.dir, "tokens") }
func (d *devEdge) logFile() string { return filepath.Join(d.dir, "edge.log") }

// rootFile is the certificate of the edge's own authority.
func (d *devEdge) rootFile() string {
	return filepath.Join(d.storage(), "pki", "authorities", "local", "root.crt")
}

// run starts the edge and prints the tour. It does not return while the edge serves:
// Caddy's signal handlers drain it and end the process.
func (d *devEdge) run(cmd *cobra.Command) error {
	hosts, err := d.checkListeners()
	if err != nil {
		return err
	}
	demo.Register(d.demo())
	config, err := d.config(strings.Join(hosts, " "))
	if err != nil {
		return err
	}
	// Files that Caddy writes outside of its configured storage go into the folder, too.
	for _, variable := range []string{"XDG_DATA_HOME", "XDG_CONFIG_HOME"} {
		if err := os.Setenv(variable, d.dir); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	caddy.TrapSignals()
	if err := caddy.Load(config, true); err != nil {
		return fmt.Errorf("the edge does not start: %w", err)
	}
	if err := d.printTour(ctx, cmd); err != nil && ctx.Err() == nil {
		_ = caddy.Stop() // err says more than its error
		return err
	}
	<-ctx.Done()
	cmd.PrintErrln("Stopping: connected clients have 7 seconds to leave. Press Ctrl+C again to stop at once.")
	select {}
}

// printTour waits until the edge serves, creates its tokens, and prints the tour.
func (d *devEdge) printTour(ctx context.Context, cmd *cobra.Command) error {
	if err := d.awaitReady(ctx); err != nil {
		return err
	}
	t := tour{devEdge: d, Self: self()}
	var err error
	if t.Master, err = d.createFirstMaster(ctx); err != nil {
		return err
	}
	if t.Access, err = d.issue(ctx, "dev", "dev", tokenstore.MaxLifetime); err != nil {
		return err
	}
	return t.print(cmd.OutOrStdout())
}
