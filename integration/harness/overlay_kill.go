package harness

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/millrace/millrace/wire"
)

// Stamped is when a message was published, and when it came.
type Stamped struct {
	N    int
	Late time.Duration
}

// Stream publishes a number each few milliseconds at one edge, and notes what
// comes at others, until it is stopped.
type Stream struct {
	Stop  chan struct{}
	Sent  chan int
	Heard []chan []Stamped
}

// Beat is a message that a listener of a stream does not count.
const Beat = "beat"

const StreamEvery = 5 * time.Millisecond

func (o *Overlay) Stream(channel string, from int, to ...int) *Stream {
	o.T.Helper()
	counts := make([]int, len(o.Edges))
	for _, at := range to {
		counts[at]++
	}
	sessions := o.Spread(channel, channel, counts...)
	s := &Stream{Stop: make(chan struct{}), Sent: make(chan int, 1)}
	for _, at := range to {
		heard := make(chan []Stamped, 1)
		s.Heard = append(s.Heard, heard)
		l := sessions[at][0].Link
		go func() { // ends with the end of the stream, the session, or the link's timeout
			var list []Stamped
			for {
				_, frame, err := l.Read()
				text := string(PayloadOf(frame))
				if err != nil || text == "end" {
					heard <- list
					return
				}
				if text == Beat {
					continue
				}
				number, at, _ := strings.Cut(text, " ")
				n, _ := strconv.Atoi(number)
				sent, _ := strconv.ParseInt(at, 10, 64)
				list = append(list, Stamped{n, time.Since(time.Unix(0, sent))})
			}
		}()
	}
	p := o.Session(from)
	go func() { // ends with stop
		tick := time.NewTicker(StreamEvery)
		defer tick.Stop()
		n := 0
		for ; ; n++ {
			text := "end"
			select {
			case <-s.Stop:
			case <-tick.C:
				text = fmt.Sprintf("%d %d", n, time.Now().UnixNano())
			}
			if p.Write(AsFrame, wire.AppendPublish(nil, wire.Publish{
				Tenant: []byte("paint.room"), Channel: []byte(channel), Payload: []byte(text),
			})) != nil || text == "end" {
				s.Sent <- n
				return
			}
		}
	}()
	return s
}

type listedEdge struct{ Host, Region string }

// Listed returns the edges that an edge lists.
func (o *Overlay) Listed(at int) []listedEdge {
	o.T.Helper()
	answer := o.Edges[at].Do(Call{Method: "GET", URL: o.Edges[at].HttpURL("/edges")})
	var got struct{ Edges []listedEdge }
	answer.Decode(o.T, http.StatusOK, &got)
	return got.Edges
}
