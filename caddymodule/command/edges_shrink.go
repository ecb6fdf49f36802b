package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"
)

// shrinker is the module of the NATS server inside edges, which a build may leave out.
type shrinker interface {
	Shrink(ctx context.Context, prefix string, size int, tell func(string)) error
}

func edgesShrinkCommand() *cobra.Command {
	var join, cluster, listen, user, password, prefix text
	var size int
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "shrink --join <host:port> --prefix <text> --size <count>",
		Short: "Removes edges with NATS inside whose number is too high, before an orchestrator stops them",
		Long: "Removes edges with NATS inside from the cluster whose names are the prefix and a number from\n" +
			"--size on, such as edge-3 and edge-4 with --prefix edge- and --size 3, and moves their\n" +
			"replicas to the others. It needs no edge on this machine: it joins the cluster for that time.\n" +
			"The Helm chart runs it before each upgrade. Without anything to remove, and without a cluster,\n" +
			"it succeeds.",
		Example: "  pubsub edges shrink --join edges.internal:6222 --user edge --password {env.MILLRACE_CLUSTER_PASSWORD} --prefix edge- --size 3",
	}
	cmd.Flags().Var(&join, "join", "host and port of the routes; the host has the addresses of all edges")
	cluster = "edges"
	cmd.Flags().Var(&cluster, "cluster", "name of the cluster")
	listen = "0.0.0.0:6222"
	cmd.Flags().Var(&listen, "listen", "address of this machine for routes")
	cmd.Flags().Var(&user, "user", "user of the routes")
	cmd.Flags().Var(&password, "password", "password of the routes, as {env.NAME} or {file./path}")
	cmd.Flags().Var(&prefix, "prefix", "what the names begin with, before the number")
	cmd.Flags().IntVar(&size, "size", 0, "how many edges are to be left: numbers 0 to size-1")
	cmd.Flags().DurationVar(&wait, "wait", 10*time.Minute, "how long it may take at most")
	return runnable(cmd, argCount{0, 0}, func(cmd *cobra.Command, _ []string) error {
		if join == "" || prefix == "" || size < 1 {
			return usagef("--join, --prefix and --size are needed, and --size must be 1 or more")
		}
		if _, _, err := net.SplitHostPort(string(join)); err != nil {
			return usagef("--join: must be host:port")
		}
		info, err := caddy.GetModule("pubsub.nats.embedded")
		if err != nil {
			return errors.New("this program has no embedded NATS server: it was built without it")
		}
		module := info.New()
		options, err := json.Marshal(map[string]any{
			// A server's name is its own, and no member's.
			"name": fmt.Sprintf("shrink-%x", time.Now().UnixNano()),
			"cluster": map[string]any{
				"name": string(cluster), "listen": string(listen), "routes": []string{"nats://" + string(join)}, "user": string(user), "password": string(password),
			},
		})
		if err != nil {
			return err
		}
		if err := json.Unmarshal(options, module); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), wait)
		defer cancel()
		err = module.(shrinker).Shrink(ctx, string(prefix), size, func(text string) { fmt.Fprintln(cmd.OutOrStdout(), plain(text)) })
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("it takes longer than %v; repeat the command to go on", wait)
		}
		return err
	})
}
