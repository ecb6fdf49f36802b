// Command bench compares Millrace with other servers on one machine: floors that no Go
// server can undercut, nats-server, mochi-mqtt and Socket.IO. It starts each server in a process of
// its own on one core, loads it from another core, and prints one table. See
// docs/decisions/0043-what-was-measured.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// command runs the program, or a part of it in a process of its own.
func command(ctx context.Context, args []string) error {
	if len(args) > 1 && args[0] == "serve" {
		return serve(untilOrphaned(ctx), args[1], slices.Contains(args, "tls"), os.Stdout)
	}
	if len(args) == 1 && args[0] == "load" {
		return load(ctx, os.Stdin, os.Stdout)
	}
	o, s, err := parseFlags(args)
	if err != nil {
		return err
	}
	return table(ctx, o, s, os.Stdout, os.Stderr)
}

// options are what to measure, and where to write it.
type options struct {
	Servers []string
	Groups  []string
	Row     string // of rows of fairness, only those whose names contain it
	JSON    string // file; "": none
	Profile string // folder; "": no profiles

	program string // millrace, built already; "": it is built
}

// parseFlags reads the command line; the environment has the defaults.
func parseFlags(args []string) (options, scale, error) {
	var (
		s       = fullScale
		o       options
		all     = strings.Join(groups, ",")
		names   = strings.Join(servers, ",")
		flags   = flag.NewFlagSet("bench", flag.ContinueOnError)
		chosen  = flags.String("servers", environment("SERVERS", names), "servers to measure ($SERVERS)")
		group   = flags.String("scenarios", environment("SCENARIOS", all), "what to measure ($SCENARIOS)")
		rounds  = flags.String("rounds", environment("ROUNDS", strconv.Itoa(s.Rounds)), "rounds; medians are shown ($ROUNDS)")
		lasting = flags.String("duration", environment("DURATION", s.Duration.String()), "of each run, after its warm-up ($DURATION)")
	)
	flags.StringVar(&o.Row, "row", os.Getenv("ROW"), "of rows of fairness, only those whose names contain this, like \"over TLS\" ($ROW)")
	flags.StringVar(&o.JSON, "json", os.Getenv("JSON"), "file to write all results to ($JSON)")
	flags.StringVar(&o.Profile, "profile", os.Getenv("PROFILE"), "folder for CPU and allocation profiles of Millrace at w=128 ($PROFILE)")
	flags.DurationVar(&s.FairTime, "fair-time", s.FairTime, "of each run of fairness, if that is longer: a p99 needs some 500 messages")
	flags.DurationVar(&s.Warmup, "warmup", s.Warmup, "before each run")
	flags.DurationVar(&s.Settle, "settle", s.Settle, "between the last idle connection and the look at the memory")
	flags.DurationVar(&s.CapTime, "cap-time", s.CapTime, "of measuring a cap, after -cap-warmup")
	flags.DurationVar(&s.CapWarmup, "cap-warmup", s.CapWarmup, "before a cap is measured: its first second is free")
	flags.IntVar(&s.Subscribers, "subscribers", s.Subscribers, "of a channel")
	flags.IntVar(&s.Rooms, "rooms", s.Rooms, "rooms, of 10 members each")
	flags.IntVar(&s.Connections, "connections", s.Connections, "idle connections; a fifth of them over WebTransport")
	flags.IntVar(&s.Crowd, "crowd", s.Crowd, "subscribers of the channel that must not delay a small one")
	flags.IntVar(&s.Attackers, "attackers", s.Attackers, "subscribers of a channel of another master token")
	if err := flags.Parse(args); err != nil {
		return o, s, err
	}
	if flags.NArg() > 0 {
		return o, s, fmt.Errorf("unknown argument %q: see -help", flags.Arg(0))
	}
	var err error
	if o.Servers, err = choose("servers", *chosen, servers); err != nil {
		return o, s, err
	}
	if o.Groups, err = choose("scenarios", *group, groups); err != nil {
		return o, s, err
	}
	if s.Rounds, err = strconv.Atoi(*rounds); err != nil || s.Rounds < 1 {
		return o, s, fmt.Errorf("rounds: must be a whole number from 1, but is %q", *rounds)
	}
	if s.Duration, err = time.ParseDuration(*lasting); err != nil || s.Duration <= 0 {
		return o, s, fmt.Errorf("duration: must be like 5s, but is %q", *lasting)
	}
	for name, count := range map[string]int{"subscribers": s.Subscribers, "rooms": s.Rooms, "connections": s.Connections, "crowd": s.Crowd, "attackers": s.Attackers} {
		if count < 1 {
			return o, s, fmt.Errorf("%s: must be at least 1, but is %d", name, count)
		}
	}
	hasRows := func(f fair) bool {
		return slices.Contains(o.Groups, f.group) && slices.ContainsFunc(f.variants, o.hasRow)
	}
	if o.Row != "" && !slices.ContainsFunc(fairness(s), hasRows) {
		return o, s, fmt.Errorf("row: no row of %s has %q in its name", strings.Join(o.Groups, ", "), o.Row)
	}
	return o, s, nil
}

// hasRow reports whether a row of fairness is to be measured.
func (o options) hasRow(v variant) bool { return strings.Contains(v.name, o.Row) }

func environment(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// choose splits a list of names.
func choose(option, list string, allowed []string) ([]string, error) {
	names := strings.Split(list, ",")
	for i, name := range names {
		names[i] = strings.TrimSpace(name)
		if !slices.Contains(allowed, names[i]) {
			return nil, fmt.Errorf("%s: %q must be one of %s", option, names[i], strings.Join(allowed, ", "))
		}
	}
	return names, nil
}

// table measures, and prints the results, even if it is interrupted.
func table(ctx context.Context, o options, s scale, out, log io.Writer) error {
	r, err := newRunner(ctx, o, s, log)
	if err != nil {
		return err
	}
	defer r.close()
	fmt.Fprintln(log, r.report.Machine)
	err = r.run(ctx)
	if ctx.Err() != nil {
		err = fmt.Errorf("interrupted: %w", ctx.Err()) // errors that follow from that say nothing
	}
	r.report.write(out)
	if o.JSON != "" {
		err = errors.Join(err, r.report.save(o.JSON))
	}
	return err
}
