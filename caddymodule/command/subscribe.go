package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"
	"github.com/millrace/millrace/pubsub/pattern"
	"github.com/millrace/millrace/wire"
	"github.com/spf13/cobra"
)

func subscribeCommand() *cobra.Command {
	var (
		flags  socketFlags
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "subscribe <pattern>...",
		Short: "Subscribes and prints the messages that come in",
		Long: "Subscribes with the access token of $" + tokenVariable + " or stdin and prints a line `channel payload`\n" +
			"for each message; a payload that is no plain text is quoted. Acknowledgements and errors\n" +
			"go to stderr. When the edge drains, it moves to a new connection; messages of that\n" +
			"moment may come twice. Ends on Ctrl+C with exit code 0, when the edge closes the\n" +
			"connection or refuses a pattern with 1.",
		Example: "  pubsub subscribe --tenant demo '#' < token.txt\n" +
			"  pubsub subscribe --url wss://edge.example.com/ws --tenant demo --json 'news.*' 'alerts.#'",
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each message as one line of JSON, with the patterns that it matched")
	return leaf(cmd, argCount{1, -1}, func(cmd *cobra.Command, patterns []string) error {
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
		s := subscriber{
			cmd: cmd, to: to, tenant: string(flags.tenant), patterns: patterns, json: asJSON,
			events: make(chan event), moved: make(chan *websocket.Conn),
		}
		return s.run(ctx)
	})
}

// A subscriber keeps one connection, and during a move two. All of it is owned
// by the goroutine in run; readers and the dialer of a move report to it.
type subscriber struct {
	cmd      *cobra.Command
	to       endpoint
	tenant   string
	patterns []string
	json     bool

	events chan event
	moved  chan *websocket.Conn // the new connection of a move
	conn   *websocket.Conn      // whose end is ours; nil while only the next is left
	next   *websocket.Conn      // nil: none
	wait   map[string]bool      // patterns not yet acknowledged on the newest connection
}

// An event is a message that came in, or the error that ended a connection.
type event struct {
	conn    *websocket.Conn
	kind    int
	message []byte
	err     error
}

func (s *subscriber) run(ctx context.Context) error {
	dialing, stop := context.WithCancel(ctx)
	defer stop() // ends the readers and the dialer
	conn, err := s.to.dial(dialing)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	s.conn = conn
	defer func() {
		for _, c := range []*websocket.Conn{s.conn, s.next} {
			if c != nil {
				c.Close()
			}
		}
	}()
	if err := s.start(dialing, conn); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			for _, c := range []*websocket.Conn{s.conn, s.next} {
				if c != nil {
					leave(c)
				}
			}
			return nil
		case s.next = <-s.moved:
			if err := s.start(dialing, s.next); err != nil {
				return err
			}
		case e := <-s.events:
			if err := s.handle(dialing, e); err != nil {
				return err
			}
		}
	}
}

// start sends the subscriptions and reads what comes in until the connection
// or ctx ends.
func (s *subscriber) start(ctx context.Context, conn *websocket.Conn) error {
	go func() {
		defer conn.Close()
		for {
			kind, message, err := conn.ReadMessage()
			select {
			case s.events <- event{conn, kind, message, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	s.wait = map[string]bool{}
	for _, p := range s.patterns {
		s.wait[p] = true
		if err := send(conn, websocket.TextMessage, wire.AppendLine(nil, wire.VerbSub, s.tenant, p)); err != nil {
			return errors.New(closeText(err))
		}
	}
	return nil
}

func (s *subscriber) handle(ctx context.Context, e event) error {
	switch {
	case e.err != nil:
		return s.ended(ctx, e)
	case e.kind == websocket.BinaryMessage:
		return s.print(e.message)
	}
	line, err := wire.ParseServerLine(e.message)
	if err != nil {
		return fmt.Errorf("the edge sent a line that this client does not know: %w", err)
	}
	switch line.Kind {
	case wire.KindPing:
		return send(e.conn, websocket.TextMessage, []byte(wire.LinePong))
	case wire.KindOK:
		s.cmd.PrintErrln(plain(string(e.message)))
		s.acknowledged(e.conn, line.Pattern)
	case wire.KindErr:
		s.cmd.PrintErrln(plain(string(e.message)))
		switch line.Code {
		case wire.CodeBadTenant, wire.CodeBadPattern, wire.CodePermissionDenied, wire.CodeTooManySubscriptions:
			return errors.New("the edge refused a subscription")
		}
	case wire.KindReconnect:
		if e.conn == s.conn && s.next == nil {
			s.cmd.PrintErrln("RECONNECT: the edge drains; moving to a new connection")
			go s.move(ctx, 0)
		}
	}
	return nil
}

// acknowledged leaves the old connection once the new one has it all.
func (s *subscriber) acknowledged(conn *websocket.Conn, p string) {
	if s.next != nil && conn != s.next {
		return
	}
	delete(s.wait, p)
	if s.next == nil || len(s.wait) > 0 {
		return
	}
	if s.conn != nil {
		leave(s.conn) // what is still on its way here is printed, too
	}
	s.conn, s.next = s.next, nil
	s.cmd.PrintErrln("moved")
}

// ended handles the end of a connection: that of one that was left is none.
func (s *subscriber) ended(ctx context.Context, e event) error {
	switch {
	case e.conn == s.next:
		s.next = nil
		if s.conn == nil {
			return errors.New(closeText(e.err))
		}
		s.cmd.PrintErrln("the new connection ended: " + closeText(e.err))
		go s.move(ctx, movePause)
	case e.conn == s.conn && s.next != nil:
		s.conn = nil
	case e.conn == s.conn:
		return errors.New(closeText(e.err))
	}
	return nil
}

const movePause = 500 * time.Millisecond // between attempts to move

// move waits, and then dials until an edge takes the connection or ctx ends.
func (s *subscriber) move(ctx context.Context, wait time.Duration) {
	for {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		conn, err := s.to.dial(ctx)
		if err != nil {
			wait = movePause
			continue
		}
		select {
		case s.moved <- conn:
		case <-ctx.Done():
			conn.Close()
		}
		return
	}
}

func (s *subscriber) print(frame []byte) error {
	m, err := wire.DecodeDeliver(frame)
	if err != nil {
		return fmt.Errorf("the edge sent a frame that this client does not know: %w", err)
	}
	out := s.cmd.OutOrStdout()
	if !s.json {
		_, err := fmt.Fprintf(out, "%s %s\n", plain(string(m.Channel)), plain(string(m.Payload)))
		return err
	}
	message := struct {
		Tenant   string   `json:"tenant"`
		Channel  string   `json:"channel"`
		Payload  *string  `json:"payload,omitempty"`
		Base64   []byte   `json:"payload_base64,omitempty"` // what is no UTF-8
		Patterns []string `json:"patterns"`
	}{Tenant: string(m.Tenant), Channel: string(m.Channel), Patterns: m.Patterns}
	if utf8.Valid(m.Payload) {
		message.Payload = new(string(m.Payload))
	} else {
		message.Base64 = m.Payload
	}
	return json.NewEncoder(out).Encode(message)
}
