package nats

// fits reports whether something of a size may be added to what a tenant has (own) of
// what all tenants have (total), where they share a limit: a tenant may have at most as
// much as is then still free. One alone has half of the room, two that want all
// of it have a third each; there is always some left for the next one. A tenant that
// has nothing may take all that is free, and a message that is larger than the limit
// fits where there is nothing.
func fits(size, own, total, limit int) bool {
	free := limit - total - size
	switch {
	case total == 0:
		return true
	case own == 0:
		return free >= 0
	}
	return own+size <= free
}
