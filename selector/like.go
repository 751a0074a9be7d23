package selector

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// pattern is what a text is LIKE: pieces with any characters between them. A piece is matched by the first place
// that it fits, which is always as good as a later one, so that the time is that of reading the text once.
type pattern struct {
	pieces []piece
	// first and last tell whether the text begins with the first piece, and ends with the last.
	first, last bool
}

// piece is what is between two percent signs.
type piece struct {
	text string // when it holds no underscore
	any  *holes // when it does
}

// holes is a piece with underscores: any single character may stand there. To find it, the sets of places up to which the
// piece has matched so far are kept as bits, as many as the piece has characters.
type holes struct {
	runes []rune // with blank for an underscore
	words int
	masks map[rune][]uint64 // where a character may stand
	rest  []uint64          // where all others may
}

// blank is an underscore that was not escaped; an octet that is no UTF-8 is one character, -2 and less.
const blank rune = -1

// maxHoles is how many characters a piece with underscores may have that does not stand at the begin or end of a text.
const maxHoles = 4096

// like returns the condition that a property is LIKE a pattern. Without wildcards that is an equality.
func (t *tree) like(property *expr, token token, escape string, negated bool) (*expr, error) {
	p, isPlain, err := parsePattern(token.text, escape, token.start)
	if err != nil {
		return nil, err
	}
	if isPlain {
		s := ""
		if len(p.pieces) > 0 {
			s = p.pieces[0].text
		}
		r := equal
		if negated {
			r = unequal
		}
		return t.compare(r, property, t.literal(Text(s), token.start)), nil
	}
	e := t.add(opLike, property.pos, property)
	e.pattern, e.escape, e.negated = token.text, escape, negated
	return e, nil
}

// parsePattern reads a pattern; isPlain says that it has no wildcards. offset is for errors.
func parsePattern(s, escape string, offset int) (p *pattern, isPlain bool, err error) {
	p = &pattern{first: true, last: true}
	isPlain = true
	var runes []rune
	flush := func() {
		if len(runes) > 0 {
			p.pieces = append(p.pieces, newPiece(runes))
		}
		runes = nil
	}
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		switch {
		case escape != "" && s[i:i+size] == escape:
			if i += size; i == len(s) {
				return nil, false, fail(offset, "expected a character after %s at the end of the pattern", shown(escape))
			}
			r, size = decode(s[i:])
			runes = append(runes, r)
		case r == '%':
			isPlain = false
			flush()
			p.first = p.first && i > 0
			p.last = i+size < len(s)
		case r == '_':
			isPlain = false
			runes = append(runes, blank)
		default:
			runes = append(runes, r)
		}
		i += size
	}
	if len(runes) > maxHoles {
		for _, r := range runes {
			if r == blank {
				return nil, false, fail(offset, "the pattern has more than %d characters in a row with _ among them", maxHoles)
			}
		}
	}
	flush()
	for _, q := range p.pieces {
		if q.any != nil && len(q.any.runes) > maxHoles {
			return nil, false, fail(offset, "the pattern has more than %d characters in a row with _ among them", maxHoles)
		}
	}
	return p, isPlain, nil
}

// decode is utf8.DecodeRuneInString, but each octet that is no UTF-8 is a character of its own.
func decode(s string) (rune, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return -2 - rune(s[0]), 1
	}
	return r, size
}

func newPiece(runes []rune) piece {
	var b strings.Builder
	for _, r := range runes {
		switch {
		case r == blank:
			return piece{any: newHoles(runes)}
		case r < 0:
			b.WriteByte(byte(-2 - r))
		default:
			b.WriteRune(r)
		}
	}
	return piece{text: b.String()}
}

func newHoles(runes []rune) *holes {
	h := &holes{runes: runes, words: (len(runes) + 63) / 64, masks: map[rune][]uint64{}}
	h.rest = make([]uint64, h.words)
	for i, r := range runes {
		if r == blank {
			h.rest[i/64] |= 1 << (i % 64)
		} else if h.masks[r] == nil {
			h.masks[r] = make([]uint64, h.words)
		}
	}
	for r, mask := range h.masks {
		for i, c := range runes {
			if c == r || c == blank {
				mask[i/64] |= 1 << (i % 64)
			}
		}
	}
	return h
}

// matches tells whether a text is like the pattern.
func (p *pattern) matches(s string) bool {
	pieces := p.pieces
	switch {
	case len(pieces) == 0:
		return s == "" || !p.first || !p.last
	case p.first && p.last && len(pieces) == 1:
		n := pieces[0].prefix(s)
		return n == len(s)
	}
	if p.first {
		n := pieces[0].prefix(s)
		if n < 0 {
			return false
		}
		s, pieces = s[n:], pieces[1:]
	}
	if p.last {
		n := pieces[len(pieces)-1].suffix(s)
		if n < 0 {
			return false
		}
		s, pieces = s[:len(s)-n], pieces[:len(pieces)-1]
	}
	for i := range pieces {
		end := pieces[i].find(s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return true
}

// prefix returns how many octets of s the piece takes at its begin, -1 if it does not fit there.
func (p *piece) prefix(s string) int {
	if p.any == nil {
		if strings.HasPrefix(s, p.text) {
			return len(p.text)
		}
		return -1
	}
	n := 0
	for _, want := range p.any.runes {
		r, size := decode(s[n:])
		if size == 0 || want != blank && want != r {
			return -1
		}
		n += size
	}
	return n
}

// suffix returns how many octets of s the piece takes at its end, -1 if it does not fit there.
func (p *piece) suffix(s string) int {
	if p.any == nil {
		if strings.HasSuffix(s, p.text) {
			return len(p.text)
		}
		return -1
	}
	end := len(s)
	for range p.any.runes {
		_, size := utf8.DecodeLastRuneInString(s[:end])
		if size == 0 {
			return -1
		}
		end -= size
	}
	if p.prefix(s[end:]) != len(s)-end {
		return -1
	}
	return len(s) - end
}

// find returns where the first place ends at which the piece fits, -1 if there is none.
func (p *piece) find(s string) int {
	if p.any == nil {
		if i := strings.Index(s, p.text); i >= 0 {
			return i + len(p.text)
		}
		return -1
	}
	return p.any.find(s)
}

func (h *holes) find(s string) int {
	var state [maxHoles / 64]uint64
	final := uint64(1) << ((len(h.runes) - 1) % 64)
	for i := 0; i < len(s); {
		r, size := decode(s[i:])
		i += size
		mask, ok := h.masks[r]
		if !ok {
			mask = h.rest
		}
		carry := uint64(1)
		for w := range h.words {
			state[w], carry = bits.Add64(state[w], state[w], carry)
			state[w] &= mask[w]
		}
		if state[h.words-1]&final != 0 {
			return i
		}
	}
	return -1
}
