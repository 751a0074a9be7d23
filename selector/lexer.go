package selector

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is what a token is. Keywords, operators and punctuation are words.
type tokenKind uint8

const (
	atEnd   tokenKind = iota
	aWord             // an operator, punctuation, or a keyword in capitals
	aName             // a name without quotes that is no keyword
	aQuoted           // a name in quotes
	aText             // a text in apostrophes
	aNumber
)

// token is a word of a selector.
type token struct {
	kind  tokenKind
	start int
	text  string // as meant: without quotes, keywords in capitals
	value Value  // of a number
}

// is tells whether a token is an operator, punctuation or a keyword.
func (t token) is(word string) bool { return t.kind == aWord && t.text == word }

// String tells what was found, for an error.
func (t token) String() string {
	switch t.kind {
	case atEnd:
		return "the end"
	case aText:
		return "a text"
	case aNumber:
		return "a number"
	default:
		return shown(t.text)
	}
}

// shown quotes a text, shortened, in ASCII.
func shown(s string) string {
	if len(s) > 40 {
		return strconv.QuoteToASCII(s[:40]) + "..."
	}
	return strconv.QuoteToASCII(s)
}

// lexer cuts a text into tokens.
type lexer struct {
	text string
	pos  int
}

func fail(offset int, format string, args ...any) error {
	return &SyntaxError{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

// next returns the token at pos and steps past it.
func (l *lexer) next() (token, error) {
	if err := l.skipBlanks(); err != nil {
		return token{}, err
	}
	start := l.pos
	if start == len(l.text) {
		return token{kind: atEnd, start: start}, nil
	}
	switch c := l.text[start]; {
	case isDigit(c), c == '.' && isDigit(l.at(1)):
		return l.number()
	case c == '\'':
		s, err := l.quoted('\'', "text")
		return token{kind: aText, start: start, text: s}, err
	case c == '"':
		s, err := l.quoted('"', "name")
		if err == nil && s == "" {
			err = fail(start, "expected a name between quotes")
		}
		return token{kind: aQuoted, start: start, text: s}, err
	}
	if word := l.operator(); word != "" {
		l.pos += len(word)
		if word == "!=" {
			word = "<>"
		}
		return token{kind: aWord, start: start, text: word}, nil
	}
	if name := l.name(); name != "" {
		l.pos += len(name)
		if word := keyword(name); word != "" {
			return token{kind: aWord, start: start, text: word}, nil
		}
		return token{kind: aName, start: start, text: name}, nil
	}
	r, _ := utf8.DecodeRuneInString(l.text[start:])
	return token{}, fail(start, "%s begins nothing that a selector may hold", strconv.QuoteRuneToASCII(r))
}

// at returns the octet some places on, 0 past the end.
func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.text) {
		return l.text[l.pos+n]
	}
	return 0
}

// skipBlanks steps past blanks and comments.
func (l *lexer) skipBlanks() error {
	for l.pos < len(l.text) {
		switch c := l.text[l.pos]; {
		case c == ' ', c == '\t', c == '\n', c == '\f', c == '\r':
			l.pos++
		case c == '-' && l.at(1) == '-':
			end := strings.IndexAny(l.text[l.pos:], "\r\n")
			if end < 0 {
				end = len(l.text) - l.pos
			}
			l.pos += end
		case c == '/' && l.at(1) == '*':
			end := strings.Index(l.text[l.pos+2:], "*/")
			if end < 0 {
				return fail(l.pos, "the comment that begins here does not end: expected */")
			}
			l.pos += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) operator() string {
	size := 1
	switch next := l.at(1); l.text[l.pos] {
	case '<':
		if next == '>' || next == '=' {
			size = 2
		}
	case '>':
		if next == '=' {
			size = 2
		}
	case '!':
		if next != '=' {
			return ""
		}
		size = 2
	case '=', '(', ')', '+', '-', '*', '/', ',':
	default:
		return ""
	}
	return l.text[l.pos : l.pos+size]
}

// quoted reads what is between two quotes; one in it is written twice.
func (l *lexer) quoted(quote byte, what string) (string, error) {
	start := l.pos
	doubled := false
	for i := start + 1; i < len(l.text); i++ {
		if l.text[i] != quote {
			continue
		}
		if i+1 < len(l.text) && l.text[i+1] == quote {
			doubled = true
			i++
			continue
		}
		s := l.text[start+1 : i]
		l.pos = i + 1
		if doubled {
			q := string(quote)
			s = strings.ReplaceAll(s, q+q, q)
		}
		return s, nil
	}
	return "", fail(start, "the %s that begins here does not end: expected %c", what, quote)
}

// name returns the name at pos. Points and hyphens belong to it if a name goes on after them.
func (l *lexer) name() string {
	rest := l.text[l.pos:]
	end := 0
	for end < len(rest) {
		if c := rest[end]; isNameOctet(c) && (end > 0 || !isDigit(c)) {
			end++
			continue
		}
		joint := 0
		if end > 0 && (rest[end] == '.' || rest[end] == '-') {
			joint = 1
		}
		r, size := utf8.DecodeRuneInString(rest[end+joint:])
		if !isNamePart(r, size) || end == 0 && unicode.IsDigit(r) {
			break
		}
		end += joint + size
	}
	return rest[:end]
}

// isNamePart follows Java: JMS 3.1, 3.8.1.1, has identifiers be those of Java.
func isNamePart(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return isNameOctet(byte(r))
	}
	return (r != utf8.RuneError || size > 1) && (unicode.IsLetter(r) || unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc, unicode.Nl, unicode.Sc, unicode.Pc))
}

func isNameOctet(c byte) bool {
	letter := c | 0x20
	return 'a' <= letter && letter <= 'z' || isDigit(c) || c == '_' || c == '$'
}

// keywords are the reserved words, by their length.
var keywords = [...][3]string{2: {"OR", "IN", "IS"}, {"AND", "NOT"}, {"NULL", "LIKE", "TRUE"}, {"FALSE"}, {"ESCAPE"}, {"BETWEEN"}}

// keyword returns a reserved word in capitals, or nothing for other names.
func keyword(name string) string {
	if len(name) >= len(keywords) {
		return ""
	}
	for _, word := range keywords[len(name)] {
		if isFold(name, word) {
			return word
		}
	}
	return ""
}

// isFold tells whether two texts are equal but for the case of ASCII letters.
func isFold(s, t string) bool { return len(s) == len(t) && strings.EqualFold(s, t) }

// number reads a literal of Java: decimal, 0x hexadecimal, 0 octal, with an L for whole numbers, or an F or D.
func (l *lexer) number() (token, error) {
	start := l.pos
	if l.at(0) == '0' && (l.at(1)|0x20) == 'x' {
		return l.whole(start, start+2, 16, "hexadecimal")
	}
	end := start
	isWhole := true
	for ; end < len(l.text); end++ {
		c := l.text[end]
		isExponent := (c | 0x20) == 'e'
		if !isDigit(c) && c != '.' && !isExponent {
			break
		}
		isWhole = isWhole && c != '.' && !isExponent
		if isExponent && end+1 < len(l.text) && (l.text[end+1] == '-' || l.text[end+1] == '+') {
			end++
		}
	}
	literal := l.text[start:end]
	l.pos = end
	suffix := l.at(0) | 0x20
	if isWhole && len(literal) > 1 && literal[0] == '0' && suffix != 'f' && suffix != 'd' {
		return l.whole(start, start+1, 8, "octal")
	}
	value := Number(literal)
	switch {
	case value.IsNull():
		return token{}, fail(start, "%s is no number", shown(literal))
	case suffix == 'l' && (!isWhole || value.kind != integer):
		return token{}, fail(start, "%s is no whole number of 64 bits", shown(literal))
	case suffix == 'l', suffix == 'f', suffix == 'd':
		l.pos++
	}
	return token{kind: aNumber, start: start, text: literal, value: value}, l.endNumber(start)
}

// whole reads a whole number in a base other than ten.
func (l *lexer) whole(start, first, base int, what string) (token, error) {
	end := first
	for end < len(l.text) && (isDigit(l.text[end]) || base == 16 && isHex(l.text[end])) {
		end++
	}
	l.pos = end
	n, err := strconv.ParseInt(l.text[first:end], base, 64)
	if err != nil {
		return token{}, fail(start, "%s is no %s number of 63 bits", shown(l.text[start:end]), what)
	}
	if l.at(0)|0x20 == 'l' {
		l.pos++
	}
	return token{kind: aNumber, start: start, text: l.text[start:end], value: Int(n)}, l.endNumber(start)
}

func isHex(c byte) bool { c |= 0x20; return 'a' <= c && c <= 'f' }

// endNumber fails if a name begins where a number ends.
func (l *lexer) endNumber(start int) error {
	r, size := utf8.DecodeRuneInString(l.text[l.pos:])
	if size > 0 && (isNamePart(r, size) || r == '.') {
		return fail(start, "expected a blank or an operator after the number %s", shown(l.text[start:l.pos]))
	}
	return nil
}
