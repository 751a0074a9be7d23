package xpath

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits bound what of a document is kept: how deep elements nest, and how many nodes there are.
type Limits struct {
	Depth, Nodes int
}

// Document is a parsed document: its nodes in document order, the root first, the attributes of an element right
// after it.
type Document struct {
	nodes []node
}

type kind uint8

const (
	root kind = iota
	element
	attribute
	textNode
	comment
	instruction
)

type node struct {
	kind   kind
	parent int32
	end    int32 // the nodes up to here are inside this one
	name   string
	value  string // of all but root and elements
}

// ErrDocType is the refusal of a document with a document type.
var ErrDocType = errors.New("xml: document types are not read")

// ParseDocument reads a document in UTF-8, US-ASCII or ISO 8859-1.
func ParseDocument(body []byte, limits Limits) (*Document, error) {
	d := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	d.CharsetReader = charset
	b := builder{limits: limits}
	b.open(node{kind: root})
	for {
		t, err := d.RawToken()
		switch {
		case err == io.EOF:
			return b.finish()
		case err != nil:
			return nil, err
		}
		if err := b.token(t); err != nil {
			return nil, err
		}
		if len(b.nodes) > limits.Nodes {
			return nil, fmt.Errorf("xml: more than %d nodes", limits.Nodes)
		}
	}
}

// charset reads the two other encodings whose octets are characters.
func charset(label string, r io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "us-ascii", "ascii":
		return r, nil
	case "iso-8859-1", "latin1":
		text, err := io.ReadAll(r)
		runes := make([]rune, len(text))
		for i, c := range text {
			runes[i] = rune(c)
		}
		return strings.NewReader(string(runes)), err
	}
	return nil, fmt.Errorf("xml: unknown encoding %q", label)
}

type builder struct {
	nodes  []node
	stack  []int32 // the open nodes
	limits Limits
	isFull bool // the element of the document was there
}

func (b *builder) open(n node) {
	if len(b.stack) > 0 {
		n.parent = b.stack[len(b.stack)-1]
	} else {
		n.parent = -1
	}
	b.stack = append(b.stack, int32(len(b.nodes)))
	b.nodes = append(b.nodes, n)
}

func (b *builder) close() {
	last := len(b.stack) - 1
	b.nodes[b.stack[last]].end = int32(len(b.nodes))
	b.stack = b.stack[:last]
}

func (b *builder) leaf(n node) {
	b.open(n)
	b.close()
}

func (b *builder) finish() (*Document, error) {
	if len(b.stack) != 1 || !b.isFull {
		return nil, io.ErrUnexpectedEOF
	}
	b.close()
	return &Document{nodes: b.nodes}, nil
}

func (b *builder) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return b.start(t)
	case xml.EndElement:
		if len(b.stack) == 1 || b.nodes[b.stack[len(b.stack)-1]].name != written(t.Name) {
			return fmt.Errorf("xml: unexpected end of %q", written(t.Name))
		}
		b.close()
	case xml.CharData:
		return b.text(string(t))
	case xml.Comment:
		b.leaf(node{kind: comment, value: string(t)})
	case xml.ProcInst:
		if t.Target != "xml" {
			b.leaf(node{kind: instruction, name: t.Target, value: string(t.Inst)})
		}
	case xml.Directive:
		return ErrDocType
	}
	return nil
}

func (b *builder) start(t xml.StartElement) error {
	if len(b.stack) == 1 && b.isFull {
		return errors.New("xml: a second element")
	}
	if len(b.stack) > b.limits.Depth {
		return fmt.Errorf("xml: deeper than %d", b.limits.Depth)
	}
	if len(b.nodes)+len(t.Attr) > b.limits.Nodes {
		return fmt.Errorf("xml: more than %d nodes", b.limits.Nodes)
	}
	b.isFull = true
	b.open(node{kind: element, name: written(t.Name)})
	for _, a := range t.Attr {
		if name := written(a.Name); name != "xmlns" && a.Name.Space != "xmlns" {
			b.leaf(node{kind: attribute, name: name, value: a.Value})
		}
	}
	return nil
}

// text adds to the text node before it, if there is one: CDATA is no node of its own.
func (b *builder) text(s string) error {
	if len(b.stack) == 1 {
		if strings.Trim(s, " \t\r\n") != "" {
			return errors.New("xml: text outside of the element")
		}
		return nil
	}
	last := &b.nodes[len(b.nodes)-1]
	if last.kind == textNode && last.parent == b.stack[len(b.stack)-1] {
		last.value += s
		return nil
	}
	b.leaf(node{kind: textNode, value: s})
	return nil
}

// written returns a name as it was written.
func written(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// text returns the string-value of a node: of an element, all text in it.
func (d *Document) text(i int32) string {
	n := &d.nodes[i]
	if n.kind != root && n.kind != element {
		return n.value
	}
	var b strings.Builder
	for j := i + 1; j < n.end; j++ {
		if d.nodes[j].kind == textNode {
			b.WriteString(d.nodes[j].value)
		}
	}
	return b.String()
}
