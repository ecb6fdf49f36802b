// Package command is Caddy's command `pubsub`: an edge for development, the
// administration of a running edge, and a client to try one. It talks to edges
// only over their admin endpoint and their sockets, and so knows none of their
// internals.
//
// A secret is never an argument, since other users of a machine can see those: tokens
// come from the environment or from stdin.
package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"

	"github.com/millrace/millrace/internal/version"
)

func init() {
	// Help and hints use the name that the user called the program by.
	if caddy.CustomBinaryName == "" {
		caddy.CustomBinaryName = filepath.Base(os.Args[0])
	}
	// What `version` and --version print begins with it: "Millrace 0.1.0, go1.26.0, Caddy
	// v2.11.9 …". Who built the program may have given Caddy's a name of its own.
	caddy.CustomVersion = strings.TrimSpace(version.String() + ", Caddy " + caddy.CustomVersion)
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:      "pubsub",
		Short:     "Runs, administers and tries a publish/subscribe edge",
		CobraFunc: setUp,
	})
}

func setUp(root *cobra.Command) {
	root.Use = "pubsub <command>"
	root.Long = "Runs an edge for development (dev), administers a running edge over Caddy's\n" +
		"admin endpoint, and publishes and subscribes from the command line.\n\n" +
		"Exit codes: 0 success, 1 failure, 2 wrong usage, 3 refused (token explain)."
	root.Example = "  pubsub dev\n" +
		"  pubsub token issue --tenant demo --pub '#' --sub '#'\n" +
		"  pubsub subscribe --tenant demo 'news.#'"
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return exit(cmd, usageError{err}) })
	group(root,
		devCommand(),
		caddyfileCommand(),
		sdkCommand(),
		masterTokenCommand(),
		tokenCommand(),
		backupCommand(),
		restoreCommand(),
		edgesCommand(),
		connectionsCommand(),
		refusedCommand(),
		disconnectCommand(),
		drainCommand(),
		undrainCommand(),
		readyCommand(),
		historyCommand(),
		presenceCommand(),
		subscribeCommand(),
		publishCommand(),
		benchCommand(),
	)
	nameProgram(root)
	nameDocs(root)
}

// nameProgram puts the program's name into the examples, so that they can be pasted.
func nameProgram(cmd *cobra.Command) {
	cmd.Example = strings.ReplaceAll(cmd.Example, "pubsub ", caddy.CustomBinaryName+" pubsub ")
	for _, sub := range cmd.Commands() {
		nameProgram(sub)
	}
}

// group gives cmd subcommands. It does nothing without one.
func group(cmd *cobra.Command, subcommands ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(subcommands...)
	names := make([]string, len(subcommands))
	for i, sub := range subcommands {
		names[i] = sub.Name()
	}
	allowed := strings.Join(names, ", ")
	return runnable(cmd, anyArgs, func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("a command is missing; allowed: %s", allowed)
		}
		return usagef("unknown command %q; allowed: %s", args[0], allowed)
	})
}

// An argCount is how many arguments a command takes; max < 0: any number.
type argCount struct{ min, max int }

var anyArgs = argCount{0, -1}

// runnable makes cmd call run. It checks the arguments first, and prints the error.
func runnable(cmd *cobra.Command, count argCount, run func(*cobra.Command, []string) error) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs // they are checked below, where we choose the exit code
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkNoSecret(args); err != nil {
			return exit(cmd, err)
		}
		if err := checkEmpty(cmd); err != nil {
			return exit(cmd, err)
		}
		if len(args) < count.min || count.max >= 0 && len(args) > count.max {
			return exit(cmd, usagef("wrong number of arguments; allowed: %s", cmd.UseLine()))
		}
		return exit(cmd, run(cmd, args))
	}
	return cmd
}

// A usageError is a mistake of the user: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errRefused is the verdict "refused" of token explain: exit code 3.
var errRefused = errors.New("refused")

// exit prints an error, and returns what makes the program exit with its code.
func exit(cmd *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	code := 1
	var usage usageError
	switch {
	case errors.Is(err, errRefused):
		return exitCode(cmd, 3)
	case errors.As(err, &usage):
		code = 2
	}
	message := err.Error()
	if secret.MatchString(message) { // a flag error quotes what it does not understand
		message = errSecretArgument.Error()
	}
	cmd.PrintErrln("Error: " + message)
	if code == 2 {
		cmd.PrintErrf("`%s --help` shows the usage.\n", cmd.CommandPath())
	}
	return exitCode(cmd, code)
}

// exitCode returns the error that makes Caddy's main function exit with code.
func exitCode(cmd *cobra.Command, code int) error {
	if code == 1 {
		return errors.New("failed")
	}
	return caddycmd.WrapCommandFuncForCobra(func(caddycmd.Flags) (int, error) { return code, nil })(cmd, nil)
}

// self returns how the user can call this program again.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if fromGoRun(path) {
		return "go run ./cmd/millrace"
	}
	return shellQuote(path)
}
