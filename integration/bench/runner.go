package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/loadgen"
)

// A runner measures, one run after the other. Its servers run on one core and
// the load on another.
type runner struct {
	options
	scale   scale
	program string // millrace
	dir     string // for what the servers write
	log     io.Writer

	serving  *launcher // servers, on the first core
	loading  *launcher // the load that is measured, on the last core
	disturbs *launcher // load beside it, on the same core, but only when that is idle

	report *report
}

// newRunner builds what is measured. close ends the launchers.
func newRunner(ctx context.Context, o options, s scale, log io.Writer) (r *runner, err error) {
	r = &runner{options: o, scale: s, log: log, report: newReport(s)}
	if r.dir, err = os.MkdirTemp("", "millrace-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.program = o.program; r.program == "" && slices.ContainsFunc(o.Servers, func(s string) bool { return strings.HasPrefix(s, millrace) }) {
		fmt.Fprintln(log, "building millrace")
		if r.program, err = buildMillrace(ctx, r.dir); err != nil {
			return nil, err
		}
	}
	server, load := -1, -1
	cores := usableCores()
	if len(cores) > 1 {
		server, load = cores[0], cores[len(cores)-1]
	}
	r.report.Machine = describeMachine(ctx, server, load, r.program)
	if r.serving, err = newLauncher(server, false); err != nil {
		return nil, err
	}
	if r.loading, err = newLauncher(load, false); err != nil {
		return nil, err
	}
	// Without a core of its own it would get no CPU time at all.
	r.disturbs, err = newLauncher(load, load >= 0)
	return r, err
}

func (r *runner) close() {
	for _, l := range []*launcher{r.serving, r.loading, r.disturbs} {
		if l != nil {
			l.close()
		}
	}
	os.RemoveAll(r.dir)
}

// run runs all rounds. When ctx ends it returns ctx's error, and the report has what was
// measured until then.
func (r *runner) run(ctx context.Context) error {
	for round := range r.scale.Rounds {
		for _, m := range measures(r.scale) {
			if !slices.Contains(r.Groups, m.group) {
				continue
			}
			for _, server := range m.servers {
				if !slices.Contains(r.Servers, server) {
					continue
				}
				if err := r.measure(ctx, m, server, round+1); err != nil {
					return fmt.Errorf("%s of %s: %w", m.key, server, err)
				}
			}
		}
	}
	if slices.Contains(r.Groups, groupSubscriptions) {
		if err := r.subscriptions(ctx); err != nil {
			return fmt.Errorf("%s: %w", groupSubscriptions, err)
		}
	}
	if !slices.Contains(r.Servers, millrace) {
		return nil
	}
	for _, f := range fairness(r.scale) {
		f.variants = slices.DeleteFunc(f.variants, func(v variant) bool { return !r.hasRow(v) })
		if slices.Contains(r.Groups, f.group) && len(f.variants) > 0 {
			if err := r.disturbed(ctx, f); err != nil {
				return fmt.Errorf("%s: %w", f.group, err)
			}
		}
	}
	if slices.Contains(r.Groups, groupCaps) {
		if err := r.caps(ctx); err != nil {
			return fmt.Errorf("%s: %w", groupCaps, err)
		}
	}
	if r.Profile != "" {
		return r.profile(ctx)
	}
	return nil
}

// measure makes one run, against a server that is started for it.
func (r *runner) measure(ctx context.Context, m measure, server string, round int) error {
	process, to, err := r.start(ctx, m, server)
	if err != nil {
		return err
	}
	defer process.stop()
	result := r.load(ctx, m.options, to, process)
	if err := ctx.Err(); err != nil {
		return err
	}
	result.Round, result.Server, result.Measure, result.Transport = round, server, m.key, m.transport
	r.report.Runs = append(r.report.Runs, result)
	fmt.Fprintf(r.log, "round %d of %d  %-18s %-12s %s\n", round, r.scale.Rounds, m.key, server, result.summary())
	return nil
}

// start runs a server for a measure.
func (r *runner) start(ctx context.Context, m measure, server string) (served, target, error) {
	transport, o := m.transport, edgeOptions{}
	if m.group == groupHop {
		o.Cap = hopCap
	}
	switch server {
	case millrace, millraceOther, millraceKept, millraceDisk:
		o.History, o.HistoryStore = historyOf(server)
		e, err := r.startEdge(ctx, o)
		if err != nil {
			return served{}, target{}, err
		}
		to, err := e.reach(ctx, transport, tenant, 0, 0)
		if err != nil {
			e.stop()
			return served{}, target{}, err
		}
		return served{child: e.child}, to, nil
	case millraceNATS, millraceHop:
		return r.startHop(ctx, server, transport, o)
	}
	c, to, err := startServer(ctx, r.serving, server, transport == overTLS)
	if here, there, two := strings.Cut(to.URL, ","); two {
		publish := to
		to.URL, publish.URL = here, there
		to.Publish = &publish
	}
	return served{child: c}, to, err
}

// startEdge runs millrace in a new folder.
func (r *runner) startEdge(ctx context.Context, o edgeOptions) (*edge, error) {
	dir, err := os.MkdirTemp(r.dir, "edge-")
	if err != nil {
		return nil, err
	}
	return startEdge(ctx, r.serving, r.program, dir, o)
}

// load runs the load generator against a server, beside other processes of ours. A failure makes the run void.
func (r *runner) load(ctx context.Context, o loadgen.Options, to target, server served, beside ...int) (result run) {
	o.PID = server.pid()
	before, besideBefore := readTicks(server.pids()...), readTicks(beside...).server
	p, err := startLoad(r.loading, job{Measure: &measureJob{to, o}})
	if err != nil {
		return run{Void: err.Error()}
	}
	answer, err := p.answer(ctx, o.Warmup+o.Duration+o.Settle)
	if err != nil {
		p.kill()
		return run{Void: err.Error()}
	}
	p.in.Close()
	if err := p.await(ctx); err != nil {
		return run{Void: err.Error()}
	}
	result.Measurement, result.Void = answer.Result, answer.Error
	after := readTicks(server.pids()...)
	if m := result.Measurement; m != nil && m.Delivered > 0 {
		result.ServersCPU = (after.server - before.server) / float64(m.Delivered) * 1e6
	}
	ours := time.Duration((readTicks(beside...).server - besideBefore) * float64(time.Second))
	result.OtherCores = after.others(before, ours+p.cmd.ProcessState.UserTime()+p.cmd.ProcessState.SystemTime())
	return result
}

// summary is one line for the log.
func (r run) summary() string {
	m := r.Measurement
	if r.Void != "" || m == nil {
		return "void: " + r.Void
	}
	var text string
	switch m.Scenario {
	case loadgen.Idle:
		text = fmt.Sprintf("%s KiB a connection, %s CPU s a thousand handshakes", significant(memory(m)), significant(handshakes(m)))
	case loadgen.Fanout:
		text = fmt.Sprintf("%s/s (%s CPU s/M), server %.2f, generator %.2f cores", millions(rate(m)), significant(cpu(m)), m.ServerCores, m.GeneratorCores)
	default:
		text = fmt.Sprintf("p99 %s ms (%s CPU s/M), server %.2f, generator %.2f cores", significant(p99(m)), significant(cpu(m)), m.ServerCores, m.GeneratorCores)
	}
	if r.OtherCores > noisy {
		text += fmt.Sprintf("; NOISY: others used %.2f cores", r.OtherCores)
	}
	return text
}

// noisy is how many cores other processes may use during a trustworthy run.
const noisy = 0.15

// A ticks is a reading of processor time.
type ticks struct {
	at     time.Time
	all    float64 // s, of all processes, user and system
	server float64 // s
}

// others returns how many cores all processes except the server used since before, less what the load used; 0
// where the system does not say.
func (t ticks) others(before ticks, load time.Duration) float64 {
	if t.all == 0 {
		return 0
	}
	rest := t.all - before.all - (t.server - before.server) - load.Seconds()
	return max(0, rest/t.at.Sub(before.at).Seconds())
}
