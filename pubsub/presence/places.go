package presence

// places has tenants in no order. Each knows its place, so that it is added and removed at once, however
// many there are.
type places struct {
	list []*tenant
	of   func(*tenant) *int // where a tenant keeps its place, counted from 1; 0: it has none
}

// add adds a tenant, if it is not there.
func (p *places) add(t *tenant) {
	if at := p.of(t); *at == 0 {
		p.list = append(p.list, t)
		*at = len(p.list)
	}
}

// remove removes a tenant, if it is there. The last one takes its place.
func (p *places) remove(t *tenant) {
	at := p.of(t)
	if *at == 0 {
		return
	}
	n := len(p.list) - 1
	last := p.list[n]
	p.list[*at-1], p.list[n] = last, nil
	*p.of(last), p.list = *at, p.list[:n]
	*at = 0
}

// walk visits all tenants, or all entries of them, that are there when it begins and still when their turn
// comes; some that come meanwhile, too, and some twice. It goes in steps, between which others get the lock:
// there may be millions. The zero value begins.
type walk struct {
	begun     bool
	next      int     // so many in Registry.all are still to be visited
	tenant    *tenant // that is visited; nil: the next one is
	at, until uint64  // of its log: where the walk is, and where it ends
	entries   []*entry
}

// stepSize is how many tenants and entries a step of a walk visits, about.
const stepSize = 1000

// nextTenant returns the next tenant; nil: there is none left. The caller holds r.mu.
func (w *walk) nextTenant(r *Registry) *tenant {
	n := len(r.all.list) // the last one takes the place of one that is removed: what is behind next has been visited
	if w.begun {
		n = min(n, w.next)
	}
	if w.begun = true; n == 0 {
		w.next = 0
		return nil
	}
	w.next = n - 1
	return r.all.list[w.next]
}

// step calls visit for some entries, and reports whether there are more. Visit may change its entry, but
// forgets none. The caller holds r.mu.
func (w *walk) step(r *Registry, visit func(*entry)) (more bool) {
	for left := stepSize; left > 0; left-- {
		if w.tenant == nil {
			if w.tenant = w.nextTenant(r); w.tenant == nil {
				return false
			}
			w.at, w.until = 0, w.tenant.log.head
		}
		w.tenant.log.after(w.at, new(entry), func(e *entry) bool {
			if e.number > w.until {
				return false
			}
			w.at, w.entries = e.number, append(w.entries, e)
			left--
			return left > 0
		})
		if left > 0 {
			w.tenant = nil
		}
		for _, e := range w.entries {
			visit(e)
		}
		clear(w.entries)
		w.entries = w.entries[:0]
	}
	return true
}
