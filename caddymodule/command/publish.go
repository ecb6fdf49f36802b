package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/millrace/millrace/client"
	"github.com/millrace/millrace/wire"
)

const (
	// publishTimeout bounds the wait until the edge has read the message: the token's
	// ingress cap says how long a large one takes.
	publishTimeout = 60 * time.Second

	// confirmTimeout is how long the client may try, and some more.
	confirmTimeout = 120 * time.Second

	maxPayload = 16 << 20 // bytes; the most that an edge can be configured to accept
)

func publishCommand() *cobra.Command {
	var (
		flags         socketFlags
		delivery, key text
		confirm       bool
	)
	cmd := &cobra.Command{
		Use:   "publish <channel> [<payload>|-]",
		Short: "Publishes one message",
		Long: "Publishes one message with the access token of $" + tokenVariable + " or stdin, and waits until the\n" +
			"edge has accepted it. With - the payload is read from stdin; without a payload it is empty.\n\n" +
			"With --confirm the edge answers: if a history keeps the channel, the command prints the\n" +
			"position at which the message is stored. With --key, too, a message is stored once, however\n" +
			"often it is published within two minutes; the command repeats it where the answer is lost.\n\n" +
			"With --confirm and --delivery one-nearest or one-random the answer comes when one subscriber has\n" +
			"the message. Where nobody has got it, the command ends with exit code 1 and says no_subscriber,\n" +
			"or subscribers_busy if those that there are take no more now.",
		Example: "  pubsub publish --tenant demo news.eu 'hello' < token.txt\n" +
			"  MILLRACE_TOKEN=$(cat token.txt) pubsub publish --tenant demo files.a - < a.bin\n" +
			"  pubsub publish --tenant demo --delivery one-random --confirm jobs.resize cat.png < token.txt",
	}
	flags.add(cmd)
	delivery = text(wire.Broadcast.String())
	cmd.Flags().Var(&delivery, "delivery", "who receives it: broadcast, one-nearest or one-random")
	cmd.Flags().BoolVar(&confirm, "confirm", false, "wait until the message is stored, and print its position")
	cmd.Flags().Var(&key, "key", "what tells this message from others of the channel, 1 to 64 bytes; with --confirm")
	return runnable(cmd, argCount{1, 2}, func(cmd *cobra.Command, args []string) error {
		m := message{tenant: string(flags.tenant), channel: args[0]}
		if err := wire.CheckChannel(args[0]); err != nil {
			return usagef("channel: %w", err)
		}
		switch string(delivery) {
		case wire.Broadcast.String():
			m.delivery = client.Broadcast
		case wire.OneNearest.String():
			m.delivery = client.OneNearest
		case wire.OneRandom.String():
			m.delivery = client.OneRandom
		default:
			return usagef("--delivery: must be broadcast, one-nearest or one-random")
		}
		switch {
		case !confirm && cmd.Flags().Changed("key"):
			return usagef("--key needs --confirm")
		case len(key) > wire.MaxKey, cmd.Flags().Changed("key") && key == "":
			return usagef("--key: must be 1 to %d bytes", wire.MaxKey)
		case confirm:
			m.confirm = []client.PublishOption{client.WithDelivery(m.delivery)}
			if key != "" {
				m.confirm = append(m.confirm, client.WithKey(string(key)))
			}
		}
		if len(args) == 2 && args[1] == "-" {
			if os.Getenv(tokenVariable) == "" {
				return usagef("the payload comes from stdin: give the token in $%s", tokenVariable)
			}
			var err error
			if m.payload, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxPayload+1)); err != nil {
				return err
			}
		} else if len(args) == 2 {
			m.payload = []byte(args[1])
		}
		if len(m.payload) > maxPayload {
			return usagef("the payload must be at most %d bytes", maxPayload)
		}
		to, err := flags.endpoint(cmd)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		position, err := publish(ctx, to, m)
		if position != "" {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), position)
		}
		return err
	})
}

// A message is what to publish.
type message struct {
	delivery        client.Delivery
	tenant, channel string
	payload         []byte
	confirm         []client.PublishOption // nil: it is not confirmed
}

// publish returns when the edge has handled the message, with its position if it is confirmed
// and stored. Other refusals come as events, and the last event is [client.Closed].
func publish(ctx context.Context, to endpoint, m message) (position string, err error) {
	timeout := publishTimeout
	if m.confirm != nil {
		timeout = confirmTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var refusals []error // written by the goroutine of the events, until closed is closed
	closed := make(chan struct{})
	to.options.OnEvent = func(event client.Event) {
		switch e := event.(type) {
		case client.PublishError:
			refusals = append(refusals, errors.New(refusal(e.Code, "PUB", e.Tenant, e.Channel)+": "+plain(e.Text)))
		case client.EdgeError:
			refusals = append(refusals, errors.New(plain("ERR:"+string(e.Code)+":"+e.Detail)))
		case client.Disconnected:
			refusals = append(refusals, explain(e.Err))
		case client.Closed:
			close(closed)
		}
	}
	c, err := client.Connect(ctx, []string{to.address}, to.options)
	if err != nil {
		return "", explain(err)
	}
	if m.confirm != nil {
		position, err = c.PublishConfirmed(ctx, m.tenant, m.channel, m.payload, m.confirm...)
	} else if err = c.PublishTo(ctx, m.delivery, m.tenant, m.channel, m.payload); err == nil {
		err = c.Flush(ctx)
	}
	c.Close()
	<-closed
	switch {
	case err == nil && m.confirm != nil: // whatever happened on the way
		return position, nil
	case ctx.Err() != nil && err != nil:
		refusals = append(refusals, errors.New("interrupted before the edge confirmed the message"))
	case err != nil && (m.confirm != nil || len(refusals) == 0): // else they say more
		return "", explain(err)
	}
	return "", errors.Join(refusals...)
}
