package pattern

// Match reports whether p matches channel. It does not allocate.
func (p Pattern) Match(channel string) bool { return matches(p.form, channel) }

// Match reports whether r matches channel, which is what allows a publish; a
// `?` matches any one token. It does not allocate.
func (r Rule) Match(channel []byte) bool { return matches(r.form, channel) }

// MatchString is [Rule.Match] for a string.
func (r Rule) MatchString(channel string) bool { return matches(r.form, channel) }

func matches[T string | []byte](f form, channel T) bool {
	rest, more := channel, true
	for i := range f.tokens {
		if !more {
			return false
		}
		var name T
		name, rest, more = cutToken(rest)
		if !tokenMatches(&f.tokens[i], name) {
			return false
		}
	}
	return !more || f.open
}

// cutToken splits a channel after its first token; more tells whether a token
// follows.
func cutToken[T string | []byte](channel T) (name, rest T, more bool) {
	for i := range len(channel) {
		if channel[i] == '.' {
			return channel[:i], channel[i+1:], true
		}
	}
	return channel, channel[len(channel):], false
}

func tokenMatches[T string | []byte](t *token, name T) bool {
	switch t.kind {
	case literal:
		return string(name) == t.text
	case prefix:
		return len(name) >= len(t.text) && string(name[:len(t.text)]) == t.text
	case named:
		return true
	case group:
		for i := range t.variants {
			if tokenMatches(&t.variants[i], name) {
				return true
			}
		}
	}
	return false
}
