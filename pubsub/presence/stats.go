package presence

// Stats is what a [Registry] holds now, and has counted.
type Stats struct {
	Members    int    // that are here, as far as this edge knows
	OwnMembers int    // of these, those that this edge has by its own sessions
	Watchers   int    // of this edge
	Edges      int    // others that are known
	Asked      uint64 // pages that this edge has asked others for: it had lost something, or was new
}

// Stats returns the counts.
func (r *Registry) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{r.here, len(r.own.members), r.watchers, len(r.others), r.asked}
}
