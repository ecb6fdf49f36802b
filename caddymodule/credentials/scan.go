// Package credentials finds the tokens in an HTTP request: those that belong there,
// for the handshakes, and those that must not get into a log. It reads untrusted input,
// and its cost is bounded by the length of the request's header.
package credentials

// finding is how much of a token a text holds. A greater finding includes the lesser.
type finding uint8

const (
	foundNothing finding = iota
	// foundStart: `AT_` or `MT_` at the start of a word, unlike FORMAT_1 or LOOK_AT_ME.
	foundStart
	// foundToken: enough of a token to exclude an accident. That is `AT_` or `MT_`
	// followed by 8 hex digits, or a `_` between 32 hex digits and 32 others.
	foundToken
)

// findToken returns how much of a token a text holds, in plain text or percent-encoded,
// even twice or beside invalid encodings. It reads the text once, byte by byte, and
// allocates nothing. steps is its cost: how many bytes it compared, at most three for
// each byte of the text.
func findToken(text string) (found finding, steps int) {
	var (
		plain, once, twice tokenMatcher   // for the text, decoded once, decoded twice
		first, second      percentDecoder // before once, before twice
	)
	encoded := false // before the first code the three texts are the same
	for i := range len(text) {
		c := text[i]
		if c == '%' && !encoded {
			encoded, once, twice = true, plain, plain
		}
		found = max(found, plain.step(c))
		steps++
		if encoded {
			n := first.step(c)
			for j := range n {
				c := first.out[j]
				found = max(found, once.step(c))
				m := second.step(c)
				for k := range m {
					found = max(found, twice.step(second.out[k]))
				}
				steps += 1 + m
			}
		}
		if found == foundToken {
			break
		}
	}
	return found, steps
}

// tokenMatcher searches for tokens in a text that it gets byte by byte. Its zero value is
// ready for the first byte.
type tokenMatcher struct {
	word    bool // the byte before is a letter, a digit or `_`
	letters letters
	digits  uint8 // hex digits up to here without a break, at most 32
	// What precedes the `_` before these digits.
	afterType bool // `AT` or `MT`
	afterID   bool // 32 hex digits
}

// letters is how much of `AT` or `MT` precedes the next byte.
type letters uint8

const (
	noLetter letters = iota
	innerLetter
	innerType
	wordLetter // as innerLetter, at the start of a word
	wordType
)

const idDigits = 32 // of an id, and of a secret

func (m *tokenMatcher) step(c byte) (found finding) {
	before := m.letters
	m.letters = noLetter
	class := classes[c]
	switch {
	case class&hexDigit != 0:
		if m.digits < idDigits {
			m.digits++
		}
		if m.afterType && m.digits == 8 || m.afterID && m.digits == idDigits {
			found = foundToken
		}
	case c == '_':
		if before == wordType {
			found = foundStart
		}
		m.afterType, m.afterID = before == wordType || before == innerType, m.digits == idDigits
		m.digits = 0
	default:
		m.digits, m.afterType, m.afterID = 0, false, false
	}
	switch {
	case c == 'A' || c == 'M':
		m.letters = innerLetter
		if !m.word {
			m.letters = wordLetter
		}
	case c == 'T' && (before == innerLetter || before == wordLetter):
		m.letters = before + 1
	}
	m.word = class&wordByte != 0
	return found
}

// percentDecoder undoes percent-encoding in a text that it gets byte by byte. Invalid
// encodings pass through. Its zero value is ready for the first byte.
type percentDecoder struct {
	held  int     // bytes that may begin a code: `%`, or `%` and a digit
	digit byte    // the second of them
	out   [3]byte // what step returns
}

// step puts the bytes that are decided by c into out, and returns how many, at most
// three. Bytes that are still held at the end of a text cannot complete a token.
func (d *percentDecoder) step(c byte) (n int) {
	if d.held == 0 {
		if c == '%' {
			d.held = 1
			return 0
		}
		d.out[0] = c
		return 1
	}
	if classes[c]&hexDigit != 0 {
		if d.held == 1 {
			d.held, d.digit = 2, c
			return 0
		}
		d.held = 0
		d.out[0] = hexValue(d.digit)<<4 | hexValue(c)
		return 1
	}
	d.out[0], d.out[1] = '%', d.digit
	n = d.held
	if c == '%' {
		d.held = 1
		return n
	}
	d.held = 0
	d.out[n] = c
	return n + 1
}

// hexValue is the value of a hex digit.
func hexValue(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

const (
	wordByte = 1 << iota // a letter, a digit, or `_`
	hexDigit
)

// classes holds the class of each byte.
var classes = func() (classes [256]uint8) {
	for c := range classes {
		switch c := byte(c); {
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			classes[c] = wordByte | hexDigit
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
			classes[c] = wordByte
		}
	}
	return classes
}()
