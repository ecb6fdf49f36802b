package command

import (
	"context"
	"errors"
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

	maxPayload = 16 << 20 // bytes; the most that an edge can be configured to accept
)

func publishCommand() *cobra.Command {
	var (
		flags    socketFlags
		delivery text
	)
	cmd := &cobra.Command{
		Use:   "publish <channel> [<payload>|-]",
		Short: "Publishes one message",
		Long: "Publishes one message with the access token of $" + tokenVariable + " or stdin, and waits until the\n" +
			"edge has accepted it. With - the payload is read from stdin; without a payload it is empty.",
		Example: "  pubsub publish --tenant demo news.eu 'hello' < token.txt\n" +
			"  MILLRACE_TOKEN=$(cat token.txt) pubsub publish --tenant demo files.a - < a.bin",
	}
	flags.add(cmd)
	delivery = text(wire.Broadcast.String())
	cmd.Flags().Var(&delivery, "delivery", "who receives it: broadcast, one-nearest or one-random")
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
		return publish(ctx, to, m)
	})
}

// A message is what to publish.
type message struct {
	delivery        client.Delivery
	tenant, channel string
	payload         []byte
}

// publish returns when the edge has handled the message. Refusals come as events, and
// the last event is [client.Closed].
func publish(ctx context.Context, to endpoint, m message) error {
	ctx, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	var refusals []error // written by the goroutine of the events, until closed is closed
	closed := make(chan struct{})
	to.options.OnEvent = func(event client.Event) {
		switch e := event.(type) {
		case client.PublishError:
			refusals = append(refusals, errors.New(refusal(e.Code, "PUB", e.Tenant, e.Channel)))
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
		return explain(err)
	}
	err = c.PublishTo(ctx, m.delivery, m.tenant, m.channel, m.payload)
	if err == nil {
		err = c.Flush(ctx)
	}
	c.Close()
	<-closed
	switch {
	case ctx.Err() != nil && err != nil:
		refusals = append(refusals, errors.New("interrupted before the edge confirmed the message"))
	case err != nil && len(refusals) == 0: // else they say more
		return explain(err)
	}
	return errors.Join(refusals...)
}
