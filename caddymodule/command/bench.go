package command

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/internal/loadgen"
)

const (
	benchTenant       = "bench"
	defaultSessionURL = "https://localhost:8443/wt"
)

// benchFlags are the flags of the command bench.
type benchFlags struct {
	url, transport, tenant, ca text
	insecure, json             bool
	cap                        int
	options                    loadgen.Options
}

// scenariosOf names the scenarios of an option; options that are not listed are for all.
var scenariosOf = map[string][]string{
	"subscribers": {loadgen.Fanout, loadgen.Latency},
	"window":      {loadgen.Fanout},
	"burst":       {loadgen.Fanout},
	"rate":        {loadgen.Latency},
	"rooms":       {loadgen.Rooms},
	"members":     {loadgen.Rooms},
	"member-rate": {loadgen.Rooms},
	"connections": {loadgen.Idle},
	"settle":      {loadgen.Idle},
	"payload":     {loadgen.Fanout, loadgen.Latency, loadgen.Rooms},
	"duration":    {loadgen.Fanout, loadgen.Latency, loadgen.Rooms},
	"warmup":      {loadgen.Fanout, loadgen.Latency, loadgen.Rooms},
}

func benchCommand() *cobra.Command {
	var f benchFlags
	cmd := &cobra.Command{
		Use:   "bench [" + strings.Join(loadgen.Scenarios(), "|") + "]",
		Short: "Measures an edge under load",
		Long: "Measures an edge over real connections, all from this process:\n\n" +
			"  fanout   1 publisher to --subscribers, as fast as --window allows; the default\n" +
			"  latency  the same at --rate\n" +
			"  rooms    --rooms of --members, who each publish at --member-rate\n" +
			"  idle     --connections that do nothing: memory of each, and handshakes\n\n" +
			"With a master token from $" + masterVariable + " or stdin, it issues itself a token for the\n" +
			"tenant, with caps of --cap, and revokes it at the end. With an access token from\n" +
			"$" + tokenVariable + " or stdin, the token must allow publishing and subscribing to bench.# in\n" +
			"--tenant, and its own caps apply: with the usual 8 KB/s, the caps are all that is\n" +
			"measured. Lost messages are an error. Ctrl+C ends it early, with the figures until\n" +
			"then.",
		Example: "  pubsub bench fanout --url ws://localhost:8080/ws < master-token.txt\n" +
			"  pubsub bench latency --transport webtransport --subscribers 100 --json",
	}
	f.add(cmd)
	return runnable(cmd, argCount{0, 1}, func(cmd *cobra.Command, args []string) error {
		f.options.Scenario = loadgen.Fanout
		if len(args) == 1 {
			f.options.Scenario = args[0]
		}
		err := f.run(cmd)
		var (
			option  *loadgen.OptionError
			unknown x509.UnknownAuthorityError
		)
		switch {
		case errors.As(err, &option):
			return usagef("--%w", option)
		case errors.As(err, &unknown):
			return fmt.Errorf("%w (--ca names a certificate authority to trust)", err)
		}
		return err
	})
}

func (f *benchFlags) add(cmd *cobra.Command) {
	f.url, f.tenant = defaultURL, benchTenant
	fl, o := cmd.Flags(), &f.options
	fl.Var(&f.url, "url", "the edge: ws:// or wss://, or https:// for WebTransport")
	fl.Var(&f.transport, "transport", "websocket or webtransport (default: by the scheme of --url)")
	fl.Var(&f.tenant, "tenant", "tenant; with a master token, its prefix is added")
	fl.Var(&f.ca, "ca", caUsage)
	fl.BoolVar(&f.insecure, "insecure", false, "trust any certificate; only for hosts on loopback")
	fl.IntVar(&f.cap, "cap", 16384, "with a master token: ingress and egress caps of a connection, KB/s")
	fl.BoolVar(&f.json, "json", false, "print the result as JSON")

	d := loadgen.Defaults(loadgen.Fanout)
	fl.IntVar(&o.Subscribers, "subscribers", d.Subscribers, "fanout, latency: subscribers of the channel")
	fl.IntVar(&o.Window, "window", d.Window, "fanout: messages in flight to the slowest subscriber")
	fl.IntVar(&o.Publishers, "publishers", d.Publishers, "fanout: the connections that publish, a burst each in turn")
	fl.IntVar(&o.Burst, "burst", d.Burst, "fanout: the most messages that the publisher writes at once")
	fl.IntVar(&o.Payload, "payload", d.Payload, "size of a message, bytes")
	fl.DurationVar(&o.Duration, "duration", d.Duration, "time to measure; not for idle")
	fl.DurationVar(&o.Warmup, "warmup", d.Warmup, "time before the measurement; not for idle")
	fl.Float64Var(&o.Rate, "rate", d.Rate, "latency: messages/s of the publisher")
	fl.IntVar(&o.Rooms, "rooms", d.Rooms, "rooms: number of rooms")
	fl.IntVar(&o.Members, "members", d.Members, "rooms: connections in each room")
	fl.Float64Var(&o.MemberRate, "member-rate", d.MemberRate, "rooms: messages/s of each member")
	fl.IntVar(&o.Connections, "connections", d.Connections, "idle: number of connections")
	fl.DurationVar(&o.Settle, "settle", d.Settle, "idle: time between the last connection and the measurement of the memory")
	fl.IntVar(&o.Dialers, "dialers", d.Dialers, "connections that are opened at the same time")
	fl.IntVar(&o.PID, "server-pid", 0, "process ID of the edge on this machine (Linux), to show its CPU time and memory")
}

// check returns the edge to measure, without a token, or an error if the flags are wrong.
func (f *benchFlags) check(cmd *cobra.Command) (*loadgen.EdgeTarget, error) {
	if scenario := f.options.Scenario; !slices.Contains(loadgen.Scenarios(), scenario) {
		return nil, usagef("unknown scenario %q; allowed: %s", scenario, strings.Join(loadgen.Scenarios(), ", "))
	}
	for option, of := range scenariosOf {
		if cmd.Flags().Changed(option) && !slices.Contains(of, f.options.Scenario) {
			return nil, usagef("--%s: not for %s; it is for %s", option, f.options.Scenario, strings.Join(of, ", "))
		}
	}
	if f.transport == loadgen.WebTransport && !cmd.Flags().Changed("url") {
		f.url = defaultSessionURL
	}
	if err := f.options.Check(); err != nil {
		return nil, err
	}
	if f.cap < 1 {
		return nil, usagef("--cap: must be at least 1 KB/s, and at most the edge's maximum, usually 16384")
	}
	return loadgen.EdgeOptions{
		URL: string(f.url), Transport: string(f.transport), Tenant: string(f.tenant), CAFile: string(f.ca), Insecure: f.insecure,
	}.Target()
}

func (f *benchFlags) run(cmd *cobra.Command) error {
	target, err := f.check(cmd)
	if err != nil {
		return err
	}
	token, isMaster, err := readBenchToken(cmd)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second Ctrl+C ends the process
	target.Token = token
	if isMaster {
		own, err := issueBenchToken(ctx, target, token, f.cap, f.options)
		if err != nil {
			return err
		}
		defer own.revokeOrWarn(cmd)
		target.Token, target.Tenant, target.CapKBPerSec = own.token, own.tenant, f.cap
		f.options.MaxRate = target.Pace(f.options)
	}
	f.options.Progress = func(line string) { cmd.PrintErrln(line) }
	result, err := loadgen.Run(ctx, loadgen.EdgeDriver(target.EdgeOptions), f.options)
	if result == nil {
		return err
	}
	shown := f.show(cmd.OutOrStdout(), target, result)
	if result.Interrupted && len(result.Errors) == 0 && result.Seconds > 0 {
		cmd.PrintErrln("Interrupted: these are the figures until then.")
		err = nil
	}
	return errors.Join(err, shown)
}

func (f *benchFlags) show(w io.Writer, target *loadgen.EdgeTarget, r *loadgen.Result) error {
	if f.json {
		return json.NewEncoder(w).Encode(r)
	}
	if r.Seconds == 0 {
		return nil // the error says it all
	}
	return table(w, append([][]string{{r.Scenario, target.Transport + ", " + target.URL.String()}}, benchRows(r)...)...)
}

// benchRows returns the result as rows of a table, with units.
func benchRows(r *loadgen.Result) (rows [][]string) {
	row := func(name, format string, args ...any) {
		rows = append(rows, []string{name, fmt.Sprintf(format, args...)})
	}
	n := func(v int64) string { return loadgen.Thousands(v) }
	hasServer := r.ServerCores > 0 || r.ServerCPUSecondsPerThousandHandshakes > 0
	row("connections", "%s, opened at %s/s", n(int64(r.Connections)), n(int64(r.HandshakesPerSecond)))
	if hasServer {
		row("handshakes", "%.2f s of the edge's CPU for 1,000 of them", r.ServerCPUSecondsPerThousandHandshakes)
	}
	switch r.Scenario {
	case loadgen.Fanout:
		row("load", "%s publishing, %s subscribers, window %d, bursts of up to %d, payload %s bytes", n(int64(r.Publishers)), n(int64(r.Subscribers)), r.Window, r.Burst, n(int64(r.PayloadBytes)))
	case loadgen.Latency:
		row("load", "%s subscribers, %g messages/s, payload %s bytes", n(int64(r.Subscribers)), r.Rate, n(int64(r.PayloadBytes)))
	case loadgen.Rooms:
		row("load", "%s rooms of %s members, %g messages/s of each member, payload %s bytes", n(int64(r.Rooms)), n(int64(r.Members)), r.MemberRate, n(int64(r.PayloadBytes)))
	}
	row("measured", "%.1f s", r.Seconds)
	if r.ServerBytesPerConnection != nil {
		row("memory", "%.1f KiB of the edge for each connection", *r.ServerBytesPerConnection/1024)
	}
	if r.Scenario != loadgen.Idle {
		row("deliveries", "%s/s", n(int64(r.DeliveriesPerSecond)))
		row("latency", "p50 %s, p90 %s, p99 %s, p99.9 %s, max %s", ms(r.P50us), ms(r.P90us), ms(r.P99us), ms(r.P999us), ms(r.Maxus))
		if r.PublishLagMaxus > 0 {
			row("published late", "by %s at most", ms(r.PublishLagMaxus))
		}
		row("whole run", "%s published, %s delivered, %s lost", n(r.Published), n(r.Delivered), n(r.Lost))
	}
	if hasServer {
		if r.Scenario != loadgen.Idle {
			row("edge", "%.3f s of CPU for a million deliveries, %.2f cores in use", r.ServerCPUSecondsPerMillion, r.ServerCores)
		} else {
			row("edge", "%.2f cores in use", r.ServerCores)
		}
	}
	row("this program", "%.2f cores in use", r.GeneratorCores)
	for _, note := range r.Notes {
		row("note", "%s", note)
	}
	return rows
}

func ms(us float64) string { return fmt.Sprintf("%.2f ms", us/1000) }
