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
