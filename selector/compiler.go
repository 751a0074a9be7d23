package selector

// Compiler turns texts into programs. Equal selectors, by their normal form, share one program, for as long as one is
// in use: memory follows the distinct selectors in use. A Compiler is owned by one goroutine.
type Compiler struct {
	options    Options
	programs   map[string]*Program // by normal form
	properties map[propertyKey]*property
	free       []int // places of properties that are gone
	places     int

	// What one Compile leaves for the next is room.
	tree    tree
	normal  []byte
	emitter emitter
}

// property is a value of messages that selectors in use ask for, which a [Message] keeps at its place.
type property struct {
	propertyKey
	place      int
	path       path     // of content
	limits     *Options // of content
	references int      // owned by the compiler
}

type propertyKey struct {
	source source
	name   string
}

// NewCompiler returns a compiler with these limits.
func NewCompiler(o Options) *Compiler {
	return &Compiler{options: o.withDefaults(), programs: map[string]*Program{}, properties: map[propertyKey]*property{}}
}

// Compile returns the program of a selector. Errors are of type *[SyntaxError]. An empty text is such an error: that it
// means no selector is for the caller to say. Each successful Compile is undone by one [Compiler.Release]. A text that is the
// normal form of a program in use is that program, without another look at it.
func (c *Compiler) Compile(text string) (*Program, error) {
	if p := c.programs[text]; p != nil {
		p.references++
		return p, nil
	}
	defer c.tree.reset()
	root, err := parse(text, &c.options, &c.tree)
	if err != nil {
		return nil, err
	}
	if cap(c.normal) > keptNormal {
		c.normal = nil
	}
	c.normal = appendExpr(c.normal[:0], root, 0)
	if p := c.programs[string(c.normal)]; p != nil {
		p.references++
		return p, nil
	}
	p := &Program{normal: string(c.normal), references: 1}
	if err := c.emitter.program(p, root, c); err != nil {
		c.drop(p)
		return nil, err
	}
	c.programs[p.normal] = p
	return p, nil
}

// keptNormal is how long a normal form may be whose room is kept for the next one, in octets.
const keptNormal = 4096

// Share has one more user of a program in use, which gives it back by a [Compiler.Release] of its own.
func (c *Compiler) Share(p *Program) *Program {
	p.references++
	return p
}

// Release says that a program which Compile returned is no longer used by the one for whom it was compiled. The last one
// frees it: nobody may match it, and no Index may hold it, any more.
func (c *Compiler) Release(p *Program) {
	if c.programs[p.normal] != p {
		return // released before by all
	}
	if p.references--; p.references == 0 {
		delete(c.programs, p.normal)
		c.drop(p)
	}
}

// drop gives up the properties of a program.
func (c *Compiler) drop(p *Program) {
	for _, q := range p.properties {
		if q.references--; q.references == 0 {
			delete(c.properties, q.propertyKey)
			c.free = append(c.free, q.place)
		}
	}
}

// intern returns the one property of its kind, which is new if it has no references.
func (c *Compiler) intern(e *expr) (*property, error) {
	key := propertyKey{e.source, e.name}
	if q := c.properties[key]; q != nil {
		return q, nil
	}
	q := &property{propertyKey: key, limits: &c.options}
	if e.source != fromName {
		var err error
		if q.path, err = parsePath(e, &c.options); err != nil {
			return nil, err
		}
	}
	if n := len(c.free); n > 0 {
		q.place, c.free = c.free[n-1], c.free[:n-1]
	} else {
		q.place = c.places
		c.places++
	}
	c.properties[key] = q
	return q, nil
}

// Len is the number of distinct programs in use.
func (c *Compiler) Len() int { return len(c.programs) }
