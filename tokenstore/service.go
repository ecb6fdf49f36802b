package tokenstore

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/millrace/millrace/internal/turns"
)

// A Service applies the rules of tokens to the records of a [Store]. All
// methods may be called concurrently, also those of several Services on one
// Store. A Service holds no resources and needs no closing.
type Service struct {
	store       Store
	now         func() time.Time
	regions     []string
	maxKBPerSec int
	static      map[string]Master
	staticOrder []string // ids as in the configuration
	known       atomic.Pointer[issuers]
	cache       accessCache
	quota       Quota // of masters that have none
	index       *Index
	calls       callLimiter
	revocations revocations
	pages       turns.Turns // that List returned
	turns       turns.Turns // of issuers at what takes a processor for long
}

// NewService returns a Service on store. It fails when cfg is not valid.
func NewService(store Store, cfg Config) (*Service, error) {
	s := &Service{
		store: store, now: cfg.Now, regions: cfg.Regions, maxKBPerSec: cfg.MaxKBPerSec,
		static: make(map[string]Master), revocations: newRevocations(), quota: cfg.Quota, index: cfg.Index,
	}
	if err := cfg.Quota.check(); err != nil {
		return nil, fmt.Errorf("the default quota: %w", err)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if len(s.regions) == 0 {
		s.regions = []string{"US", "EU"}
	}
	for _, r := range s.regions {
		if r == "" {
			return nil, errors.New("tokenstore: a region must have a name")
		}
	}
	switch {
	case s.maxKBPerSec == 0:
		s.maxKBPerSec = DefaultMaxKBPerSec
	case s.maxKBPerSec < 0:
		return nil, errors.New("tokenstore: the highest cap in KB/s must be at least 1, or 0 for the default")
	}
	for i, sm := range cfg.StaticMasters {
		if err := s.addStatic(sm); err != nil {
			return nil, fmt.Errorf("static master token %d: %w", i+1, err)
		}
	}
	return s, nil
}

func (s *Service) addStatic(sm StaticMaster) error {
	if !IsID(sm.ID) {
		return errors.New("the id must be 32 lower-case hex digits")
	}
	if _, twice := s.static[sm.ID]; twice {
		return fmt.Errorf("the id %s is configured twice", sm.ID)
	}
	spec, err := normalizeSpec(sm.MasterSpec)
	if err != nil {
		return err
	}
	r := masterRecord{Hash: sm.SecretHash, MasterSpec: spec}
	m := r.master(sm.ID)
	m.Static = true
	s.static[sm.ID] = m
	s.staticOrder = append(s.staticOrder, sm.ID)
	return nil
}

// nowSeconds is the time for records: UTC, whole seconds.
func (s *Service) nowSeconds() time.Time { return s.now().UTC().Truncate(time.Second) }
