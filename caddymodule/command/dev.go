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
		port       int
	)
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Runs an edge for development on localhost, with tokens and the commands to try it",
		Long: "Runs an edge for development on https://localhost:8443 and http://localhost:8080, only\n" +
			"on loopback. http://localhost:8080 is a page with two clients that are already connected;\n" +
			"http://localhost:8080/console is a console to administer the edge. It prints the console's\n" +
			"password, tokens, and commands to try it in a terminal. It needs no root rights and changes\n" +
			"no trust store. All its data, also the messages of its history, is in one folder, which it\n" +
			"names: by default millrace-dev in the user's cache folder, which is outside of any repository\n" +
			"and can be deleted.\n\n" +
			"Bandwidth, history and presence are those of the edge that `pubsub caddyfile` prints for\n" +
			"production. Added are plain HTTP, a certificate authority of its own, tokens that allow\n" +
			"everything in the tenant demo, the console, the pages and the description of the API.\n\n" +
			"The first start creates a master token and shows it once; each start shows a new access\n" +
			"token, which is valid for 24 hours.\n\n" +
			"For tests, --port 0 takes free ports, an admin endpoint on a Unix socket, and without\n" +
			"--dir a temporary folder, so that any number of edges run at a time. --json prints one\n" +
			"line when the edge serves, and nothing else on stdout: an object with http, https (the\n" +
			"origins), ca_file, data_dir, admin, master_token (a new one), tenant, access_token (with\n" +
			"--token), console_user and console_password.",
		Example: "  pubsub dev\n" +
			"  pubsub dev --dir ./data --https-port 9443 --http-port 9080 --admin localhost:9019\n" +
			"  pubsub dev --json --token --port 0 --exit-with-stdin",
	}
	admin = devAdmin
	cmd.Flags().Var(&dir, "dir", "data folder, created if missing")
	cmd.Flags().IntVar(&d.httpsPort, "https-port", devHTTPS, "port of HTTPS, and over UDP of HTTP/3")
	cmd.Flags().IntVar(&d.httpPort, "http-port", devHTTP, "port of plain HTTP")
	cmd.Flags().Var(&admin, "admin", "admin endpoint, on loopback or a Unix socket")
	cmd.Flags().IntVar(&port, "port", 0, "0: free ports, for those that are not given; the admin endpoint is then a socket in the\n"+
		"data folder, and the folder a temporary one")
	cmd.Flags().BoolVar(&d.json, "json", false, "print one line of JSON when the edge serves")
	cmd.Flags().BoolVar(&d.token, "token", false, "with --json: have an access token for the tenant demo in it")
	cmd.Flags().BoolVar(&d.stdin, "exit-with-stdin", false, "exit at once when standard input ends, as when a test runner was killed")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		isSet := cmd.Flags().Changed
		switch {
		case port != 0:
			return usagef("--port: must be 0, for free ports; choose ports with --https-port and --http-port")
		case d.token && !d.json:
			return usagef("--token goes with --json: without that, an access token is printed anyway")
		case d.httpPort == d.httpsPort:
			return usagef("--http-port and --https-port must differ")
		}
		d.anyPort = isSet("port")
		for flag, port := range map[string]*int{"https-port": &d.httpsPort, "http-port": &d.httpPort} {
			if d.anyPort && !isSet(flag) {
				*port = 0
			} else if *port < 1 || *port > 65535 {
				return usagef("--%s: must be from 1 to 65535; --port 0 chooses free ports", flag)
			}
		}
		if err := d.makeDir(string(dir)); err != nil {
			return err
		}
		if d.admin = string(admin); d.anyPort && !isSet("admin") {
			d.admin = d.socket()
		}
		defer d.removeTemporary() // where the edge does not start
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

	anyPort   bool // --port 0
	temporary bool // dir is removed at the end
	json      bool // print devReady in place of the tour
	token     bool // with an access token
	stdin     bool // exit when standard input ends
}

// makeDir creates the data folder, which other users cannot read. A folder that exists
// keeps its permissions: secrets are in folders below it, which other users cannot read
// in any case.
func (d *devEdge) makeDir(dir string) error {
	if dir == "" && d.anyPort {
		if err := d.makeTemporary(); err != nil {
			return err
		}
		dir = d.dir
	}
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
	for _, folder := range []string{d.dir, d.storage(), d.tokens(), d.histories()} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("--dir: %w", err)
		}
	}
	return nil
}

func (d *devEdge) storage() string   { return filepath.Join(d.dir, "caddy") }
func (d *devEdge) tokens() string    { return filepath.Join(d.dir, "tokens") }
func (d *devEdge) histories() string { return filepath.Join(d.dir, "histories") }
func (d *devEdge) logFile() string   { return filepath.Join(d.dir, "edge.log") }

// rootFile is the certificate of the edge's own authority.
func (d *devEdge) rootFile() string {
	return filepath.Join(d.storage(), "pki", "authorities", "local", "root.crt")
}

// run starts the edge and prints the tour. It does not return while the edge serves:
// Caddy's signal handlers drain it and end the process.
func (d *devEdge) run(cmd *cobra.Command) error {
	if d.stdin {
		go d.exitWithStdin(cmd.InOrStdin()) // ends with the process
	}
	hosts, release, err := d.takeListeners()
	if err != nil {
		return err
	}
	defer release()
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
	caddy.OnExit(func(context.Context) { d.removeTemporary() })
	if err := caddy.Load(config, true); err != nil {
		return fmt.Errorf("the edge does not start: %w", err)
	}
	release()
	print := d.printTour
	if d.json {
		print = d.printJSON
	}
	if err := print(ctx, cmd); err != nil && ctx.Err() == nil {
		_ = caddy.Stop() // err says more than its error
		return err
	}
	<-ctx.Done()
	cmd.PrintErrln("Stopping: connected clients have 10 seconds to leave. Press Ctrl+C again to stop at once.")
	select {}
}

// printTour creates tokens, waits until the edge serves, and prints the tour.
func (d *devEdge) printTour(ctx context.Context, cmd *cobra.Command) error {
	t := tour{devEdge: d, Self: self()}
	var err error
	if t.Master, err = d.createFirstMaster(ctx); err != nil {
		return err
	}
	if t.Access, err = d.issue(ctx, "dev", "dev", tokenstore.MaxLifetime); err != nil {
		return err
	}
	if err := d.awaitReady(ctx); err != nil {
		return err
	}
	return t.print(cmd.OutOrStdout())
}
