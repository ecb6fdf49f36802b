package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
)

func subscribeCommand() *cobra.Command {
	var (
		flags  socketFlags
		asJSON bool
		from   text
	)
	cmd := &cobra.Command{
		Use:   "subscribe <pattern>...",
		Short: "Subscribes to patterns and prints the messages",
		Long: "Subscribes with the access token of $" + tokenVariable + " or stdin, and prints a line `channel payload`\n" +
			"for each message; a payload that is not plain text is quoted. Acknowledgements and errors\n" +
			"go to stderr. When the edge drains, it moves to a new connection and loses nothing. When\n" +
			"the connection is lost, it reconnects; messages sent in between are lost. Ctrl+C ends it\n" +
			"with exit code 0, when all that was received is printed. It ends with exit code 1 if no edge answers at the start, if the edge\n" +
			"refuses a pattern, or when the token is no longer valid.\n\n" +
			"With --from it begins with what the edge keeps, and loses nothing when it reconnects, or\n" +
			"says that something may be missing. A message then comes once for each pattern. Beginning\n" +
			"in the past needs the right to read it.",
		Example: "  pubsub subscribe --tenant demo '#' < token.txt\n" +
			"  pubsub subscribe --url wss://edge.example.com/ws --tenant demo --json 'news.*' 'alerts.#'\n" +
			"  pubsub subscribe --url https://edge.example.com --transport webtransport --tenant demo '#'\n" +
			"  pubsub subscribe --tenant demo --from last.10 chat.room",
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each message as one line of JSON, with the patterns that it matched")
	cmd.Flags().Var(&from, "from", "where to begin: now, last (message of each channel), last.<n> (messages of one channel), or the position of a message")
	return runnable(cmd, argCount{1, -1}, func(cmd *cobra.Command, patterns []string) error {
		opts, err := historyOptions(string(from), patterns)
		if err != nil {
			return err
		}
		for _, p := range patterns {
			if _, err := pattern.Parse(p); err != nil {
				return usagef("pattern %q: %w", p, err)
			}
		}
		to, err := flags.endpoint(cmd)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		s := subscriber{cmd: cmd, tenant: string(flags.tenant), json: asJSON, opts: opts, failed: make(chan error, 1)}
		return s.run(ctx, to, patterns)
	})
}

// historyOptions are the options of subscriptions that begin as --from says.
func historyOptions(from string, patterns []string) ([]client.SubscribeOption, error) {
	if from == "" {
		return nil, nil
	}
	line, err := wire.ParseLine(wire.AppendLine(nil, wire.VerbRsub, "t", "a:"+from))
	if err != nil || string(line.Pattern) != "a" {
		return nil, usagef("--from: must be now, last, last.<n> with n up to %d, or a position", wire.MaxLast)
	}
	var begin client.From
	switch line.From.Origin {
	case wire.OriginNow:
		begin = client.Now
	case wire.OriginLast:
		begin = client.Last
	case wire.OriginLastN:
		if i := slices.IndexFunc(patterns, func(p string) bool { return wire.CheckChannel(p) != nil }); i >= 0 {
			return nil, usagef("--from last.<n> is for channels: %q has a wildcard", patterns[i])
		}
		begin = client.LastN(int(line.From.N))
	case wire.OriginPosition:
		begin = client.After(from)
	}
	return []client.SubscribeOption{client.WithHistory(begin)}, nil
}

// subscribeQueue is how many messages may wait for a slow terminal.
const subscribeQueue = 16 << 10

// A subscriber prints messages to stdout, and events to stderr.
type subscriber struct {
	cmd    *cobra.Command
	tenant string
	json   bool
	opts   []client.SubscribeOption // with a history; empty: without
	failed chan error               // the first error that ends the command
	mu     sync.Mutex               // guards writes: each pattern has a goroutine, and the events one
}

func (s *subscriber) run(ctx context.Context, to endpoint, patterns []string) error {
	to.options.OnEvent, to.options.Queue = s.event, subscribeQueue
	c, err := client.Connect(ctx, []string{to.address}, to.options)
	if err == nil {
		if err = s.subscribe(ctx, c, patterns); ctx.Err() != nil {
			s.drain(c)
		}
		c.Close() // of one that has ended: returns when all received messages are printed
	}
	select {
	case <-ctx.Done(): // Ctrl+C
		return nil
	default:
		return s.explainEnd(err)
	}
}

// subscribe subscribes, and returns when ctx ends, or with the error that ends the command.
func (s *subscriber) subscribe(ctx context.Context, c *client.Client, patterns []string) error {
	for i, p := range patterns {
		if slices.Contains(patterns[:i], p) {
			continue
		}
		if _, err := c.SubscribeFunc(ctx, s.tenant, p, s.message, s.opts...); err != nil {
			return err
		}
		s.printLine("OK:" + s.verb() + ":" + s.tenant + ":" + p)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-s.failed:
		return err
	case <-c.Done():
		return c.Err()
	}
}

// drainTimeout is how long a slow terminal has to print what was received when the command ends.
const drainTimeout = 10 * time.Second

func (s *subscriber) drain(c *client.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout) // the command's has ended
	defer cancel()
	if err := c.Drain(ctx); err != nil {
		s.printLine(fmt.Sprintf("not all that was received is printed: %v", err))
	}
}

// verb is the word of the line that the client sends.
func (s *subscriber) verb() string {
	if len(s.opts) > 0 {
		return wire.VerbRsub.String()
	}
	return wire.VerbSub.String()
}

// explainEnd returns why the command ends, and prints the line that the edge sent.
func (s *subscriber) explainEnd(err error) error {
	var e *client.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Pattern != "":
		s.printLine(refusal(e.Code, s.verb(), e.Tenant, e.Pattern) + ": " + plain(e.Text))
		return errors.New("the edge refused a subscription")
	case e.Close != 0 && e.Code != client.CodeDisconnected:
		s.printLine(plain("ERR:" + string(e.Code)))
	}
	return explain(err)
}

// fail ends the command with an error.
func (s *subscriber) fail(err error) {
	select {
	case s.failed <- err:
	default: // it is already ending
	}
}

// printLine writes a line to stderr.
func (s *subscriber) printLine(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd.PrintErrln(line)
}

func (s *subscriber) event(event client.Event) {
	switch e := event.(type) {
	case client.Disconnected:
		s.printLine(fmt.Sprintf("disconnected: %v; reconnecting", explain(e.Err)))
	case client.Suspect:
		s.printLine("the edge does not answer; looking for another connection beside this one")
	case client.Recovered:
		if e.Away == 0 {
			s.printLine("the edge answers again")
		} else {
			s.printLine(fmt.Sprintf("another connection took over after %v", e.Away.Round(100*time.Millisecond)))
		}
	case client.Reconnected:
		said := fmt.Sprintf("reconnected after %v away", e.Away.Round(100*time.Millisecond))
		if e.Complete && len(s.opts) > 0 {
			said += ", nothing is missing"
		}
		s.printLine(said)
	case client.Gap:
		s.printLine(gapLine(e))
	case client.Moving:
		if e.Reason == client.ReasonDrain {
			s.printLine("RECONNECT: the edge is draining; moving to a new connection")
		}
	case client.Moved:
		s.printLine("moved")
	case client.SubscriptionError:
		s.fail(&client.Error{Code: e.Code, Text: e.Text, Tenant: e.Tenant, Pattern: e.Pattern})
	case client.SlowConsumer:
		s.printLine(fmt.Sprintf("ERR:%s:%d", wire.CodeSlowConsumer, e.Dropped))
	case client.Limited: // of what comes: the command publishes nothing
		s.printLine(fmt.Sprintf("ERR:%s:%d: messages are this many seconds late: they wait for the token's egress_kb_per_sec or a cap of the edge",
			wire.CodeEgressLimited, int(e.Delay.Seconds())))
	case client.LinkDown:
		s.printLine("LINK:down: the edge has lost the other edges; nothing comes from there")
	case client.LinkUp:
		s.printLine("LINK:up: the edge has the other edges again; messages sent in between are lost")
	case client.QueueFull:
		s.printLine(fmt.Sprintf("%d messages for %s were dropped: the terminal is too slow", e.Dropped, e.Pattern))
	case client.Discarded:
		s.printLine(fmt.Sprintf("%d messages for %s, each to one subscriber, were not printed, and nobody else gets them", e.Count, e.Pattern))
	case client.EdgeError:
		line := "ERR:" + string(e.Code)
		if e.Detail != "" {
			line += ":" + e.Detail
		}
		s.printLine(plain(line))
	}
}

// gapLine says why messages may be missing, where the edge has said so.
func gapLine(e client.Gap) string {
	line := "GAP:" + e.Tenant + ":" + e.Pattern + ": messages may be missing"
	switch e.Reason {
	case client.GapNoRight:
		line += ": the token does not allow reading the past of this pattern; its grant needs allow_channels_history"
	case client.GapNoHistory:
		line += ": this edge keeps nothing of this pattern"
	case client.GapUnknown, "":
	default:
		line += ": " + plain(string(e.Reason))
	}
	return line
}

// message prints a message once, even if it matches several patterns.
func (s *subscriber) message(m client.Message) {
	if m.Pattern != m.Patterns[0] {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.print(m); err != nil {
		s.fail(err)
	}
}

func (s *subscriber) print(m client.Message) error {
	out := s.cmd.OutOrStdout()
	if !s.json {
		_, err := fmt.Fprintf(out, "%s %s\n", plain(m.Channel), plain(string(m.Payload)))
		return err
	}
	message := struct {
		Tenant   string   `json:"tenant"`
		Channel  string   `json:"channel"`
		Payload  *string  `json:"payload,omitempty"`
		Base64   []byte   `json:"payload_base64,omitempty"` // if it is not UTF-8
		Patterns []string `json:"patterns"`
		Late     bool     `json:"late,omitempty"`     // newer messages may have come before it
		Position string   `json:"position,omitempty"` // with --from
		Time     string   `json:"time,omitempty"`     // when it was stored
	}{Tenant: m.Tenant, Channel: m.Channel, Patterns: m.Patterns, Late: m.Late, Position: m.Position}
	if m.Position != "" {
		message.Time = m.Time.UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	if utf8.Valid(m.Payload) {
		message.Payload = new(string(m.Payload))
	} else {
		message.Base64 = m.Payload
	}
	return json.NewEncoder(out).Encode(message)
}
