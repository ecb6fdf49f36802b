package overlay

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/millrace/millrace/pubsub"
)

// EdgeStatus is an edge of the overlay, and how it is if it answered.
type EdgeStatus struct {
	ID       string     `json:"id"`
	Name     string     `json:"name"` // for people: the host, the edge's name for the broker, or the ID
	Self     bool       `json:"self"`
	Host     string     `json:"host"`
	Region   string     `json:"region"`
	State    string     `json:"state"`             // of [pubsub.Member]
	SeenAt   *time.Time `json:"seen_at,omitempty"` // of others: when it last announced itself
	Answered bool       `json:"answered"`
	Error    string     `json:"error,omitempty"` // why it did not
	Lost     bool       `json:"lost,omitempty"`  // it is silent for so long that it most likely serves no clients
	Status   *Status    `json:"status,omitempty"`
}

// Overview is an edge with its last 15 minutes.
type Overview struct {
	EdgeStatus
	Samples *Samples `json:"samples,omitempty"`
	Recent  *Reasons `json:"recent,omitempty"`
}

// Edges lists all edges with their status, this one first. Callers at the same time share a
// round of requests, which takes twice Patience at most.
func (o *Overlay) Edges() []EdgeStatus {
	list, _, _ := o.shared.Do(kindStatus, func() (any, error) {
		return round(o, o.members(), func(ctx context.Context, m pubsub.Member) EdgeStatus {
			self := o.isSelf(m)
			status, err := ask[Status](ctx, o, m, self, kindStatus, nil)
			return o.edgeStatus(m, self, &status, err)
		}), nil
	})
	return list.([]EdgeStatus)
}

// Overview lists all edges with their status and their last 15 minutes, likewise.
func (o *Overlay) Overview() []Overview {
	list, _, _ := o.shared.Do(kindOverview, func() (any, error) {
		return round(o, o.members(), func(ctx context.Context, m pubsub.Member) Overview {
			self := o.isSelf(m)
			got, err := ask[overviewResult](ctx, o, m, self, kindOverview, nil)
			if err == nil && !got.Samples.sound() {
				err = &NoAnswerError{nameOf(m, self), errBadAnswer}
			}
			shown := Overview{EdgeStatus: o.edgeStatus(m, self, &got.Status, err)}
			if err == nil {
				shown.Samples, shown.Recent = &got.Samples, &got.Recent
			}
			return shown
		}), nil
	})
	return list.([]Overview)
}

// Drain ends the service of an edge, given by its ID or name: its clients are told to move.
func (o *Overlay) Drain(ctx context.Context, edge string) error {
	m, self, err := o.member(edge)
	if err != nil {
		return err
	}
	_, err = ask[struct{}](ctx, o, m, self, kindDrain, nil)
	return err
}

// Undrain takes [Overlay.Drain] back: the edge takes new clients again. It returns
// [ErrUnknownRequest] of an edge of an earlier version, and [pubsub.ErrStopping].
func (o *Overlay) Undrain(ctx context.Context, edge string) error {
	m, self, err := o.member(edge)
	if err != nil {
		return err
	}
	_, err = ask[struct{}](ctx, o, m, self, kindUndrain, nil)
	return err
}

func (o *Overlay) edgeStatus(m pubsub.Member, self bool, status *Status, err error) EdgeStatus {
	s := EdgeStatus{ID: m.ID, Name: nameOf(m, self), Self: self, Host: m.Host, Region: m.Region, State: m.State, Answered: err == nil, Error: shownError(err)}
	if !m.SeenAt.IsZero() {
		seen := m.SeenAt.UTC()
		s.SeenAt = &seen
	}
	if err != nil {
		s.Lost = lost(m.State, m.SeenAt, time.Now())
		return s
	}
	if s.Status = status; status.Draining && s.State == pubsub.MemberHere {
		s.State = pubsub.MemberDraining
	}
	return s
}

// shownError says for people why an edge did not answer; empty: it did.
func shownError(err error) string {
	var silent *NoAnswerError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &silent):
		return noAnswer(silent.Err)
	}
	return err.Error()
}

// round is each for requests that only read, when there is a place for them.
func round[T any](o *Overlay, members []pubsub.Member, f func(ctx context.Context, m pubsub.Member) T) []T {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	select {
	case o.rounds <- struct{}{}:
		defer func() { <-o.rounds }()
		return each(context.Background(), members, f)
	case <-ctx.Done(): // this edge has an answer all the same, and the others are named
		return each(ctx, members, f)
	}
}

// each calls f for all members, some at a time, those that are silent last, and returns its
// results in the order of members. After Patience, the context of all is done.
func each[T any](ctx context.Context, members []pubsub.Member, f func(ctx context.Context, m pubsub.Member) T) []T {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	results := make([]T, len(members))
	places := make(chan struct{}, maxAsked)
	var all sync.WaitGroup
	for _, silent := range []bool{false, true} {
		for i, m := range members {
			if (m.State == pubsub.MemberSilent) != silent {
				continue
			}
			places <- struct{}{}
			all.Go(func() {
				results[i] = f(ctx, m)
				<-places
			})
		}
	}
	all.Wait()
	return results
}
