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

	"github.com/gorilla/websocket"
	"github.com/millrace/millrace/wire"
	"github.com/spf13/cobra"
)

const (
	// publishPatience bounds the wait for the edge to have read the message: a
	// large one takes as long as the token's ingress cap says.
	publishPatience = 60 * time.Second

	maxPayload = 16 << 20 // bytes; what an edge can be configured to take
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
			"edge has accepted it. The payload - is read from stdin; without one it is empty.",
		Example: "  pubsub publish --tenant demo news.eu 'hello' < token.txt\n" +
			"  MILLRACE_TOKEN=$(cat token.txt) pubsub publish --tenant demo files.a - < a.bin",
	}
	flags.add(cmd)
	delivery = text(wire.Broadcast.String())
	cmd.Flags().Var(&delivery, "delivery", "to whom: broadcast, one-nearest or one-random")
	return leaf(cmd, argCount{1, 2}, func(cmd *cobra.Command, args []string) error {
		p := wire.Publish{Tenant: []byte(flags.tenant), Channel: []byte(args[0])}
		if err := wire.CheckChannel(args[0]); err != nil {
			return usagef("channel: %w", err)
		}
		switch string(delivery) {
		case wire.Broadcast.String():
		case wire.OneNearest.String():
			p.Delivery = wire.OneNearest
		case wire.OneRandom.String():
			p.Delivery = wire.OneRandom
		default:
			return usagef("--delivery: must be broadcast, one-nearest or one-random")
		}
		if len(args) == 2 && args[1] == "-" {
			if os.Getenv(tokenVariable) == "" {
				return usagef("the payload comes from stdin: give the token in $%s", tokenVariable)
			}
			var err error
			if p.Payload, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxPayload+1)); err != nil {
				return err
			}
		} else if len(args) == 2 {
			p.Payload = []byte(args[1])
		}
		if len(p.Payload) > maxPayload {
			return usagef("the payload must be at most %d bytes", maxPayload)
		}
		to, err := flags.endpoint(cmd)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return publish(ctx, to, p)
	})
}

// publish sends the message and then a PING: messages are handled in their
// order, so whatever there is to say about the first comes before the PONG.
func publish(ctx context.Context, to endpoint, p wire.Publish) error {
	ctx, cancel := context.WithTimeout(ctx, publishPatience)
	defer cancel()
	conn, err := to.dial(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	// If the edge has closed meanwhile, reading tells why.
	_ = send(conn, websocket.BinaryMessage, wire.AppendPublish(nil, p))
	_ = send(conn, websocket.TextMessage, []byte(wire.LinePing))
	var refusals []error
	for {
		kind, message, err := conn.ReadMessage()
		if err != nil {
			if ctx.Err() != nil {
				return errors.Join(append(refusals, errors.New("ended before the edge confirmed the message"))...)
			}
			return errors.Join(append(refusals, errors.New(closeText(err)))...)
		}
		if kind != websocket.TextMessage {
			continue
		}
		line, err := wire.ParseServerLine(message)
		if err != nil {
			return fmt.Errorf("the edge sent a line that this client does not know: %w", err)
		}
		switch line.Kind {
		case wire.KindErr:
			refusals = append(refusals, errors.New(plain(string(message))))
		case wire.KindPing:
			if err := send(conn, websocket.TextMessage, []byte(wire.LinePong)); err != nil {
				return err
			}
		case wire.KindPong:
			leave(conn)
			return errors.Join(refusals...)
		}
	}
}
