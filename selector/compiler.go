package selector

// Compiler turns texts into programs. Equal selectors, by their normal form, share one program, for as long as one is
// in use: memory follows the distinct selectors in use. A Compiler is owned by one goroutine.
type Compiler struct {
	options Options
}

// NewCompiler returns a compiler with these limits.
func NewCompiler(o Options) *Compiler { return &Compiler{options: o.withDefaults()} }

// Compile returns the program of a selector. Errors are of type *[SyntaxError]. An empty text is such an error: that it
// means no selector is for the caller to say. Each successful Compile is undone by one [Compiler.Release].
func (c *Compiler) Compile(text string) (*Program, error) {
	return nil, &SyntaxError{Offset: 0, Message: "selectors are not built yet"}
}

// Release says that a program which Compile returned is no longer used by the one for whom it was compiled. The last one
// frees it: nobody may match it, and no Index may hold it, any more.
func (c *Compiler) Release(p *Program) {}

// Len is the number of programs in use.
func (c *Compiler) Len() int { return 0 }
