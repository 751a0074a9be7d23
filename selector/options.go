package selector

// Options are the limits of a [Compiler]. The zero value of each is its default.
type Options struct {
	// MaxText is the greatest length of a selector, in octets; 16384 by default.
	MaxText int
	// MaxNodes is the greatest number of operators, names and literals of a selector; 2048 by default.
	MaxNodes int
	// MaxDepth is how deep parentheses, NOT and signs may nest; 64 by default.
	MaxDepth int
	// MaxList is the greatest number of values in one IN list; 1024 by default.
	MaxList int

	// NoContent refuses selectors that look into bodies: JMS_BEA_SELECT, XPATH and JSON_VALUE.
	NoContent bool
	// MaxBody is the length, in octets, above which a body is not looked into: what is asked of it is
	// NULL, as it is of one that does not parse. 65536 by default.
	MaxBody int
	// MaxBodyDepth is how deep the elements of XML, the objects and arrays of JSON may nest in a body
	// that is looked into; 64 by default.
	MaxBodyDepth int
	// MaxBodyNodes is the greatest number of elements, attributes, texts and values in a body that is looked
	// into; 10000 by default.
	MaxBodyNodes int
	// MaxSteps bounds the work of one XPath on one body, in nodes visited; what takes more is NULL. 100000 by default.
	MaxSteps int
}

// withDefaults returns the options with a default for each limit that is not set.
func (o Options) withDefaults() Options {
	set := func(limit *int, value int) {
		if *limit <= 0 {
			*limit = value
		}
	}
	set(&o.MaxText, 16<<10)
	set(&o.MaxNodes, 2048)
	set(&o.MaxDepth, 64)
	set(&o.MaxList, 1024)
	set(&o.MaxBody, 64<<10)
	set(&o.MaxBodyDepth, 64)
	set(&o.MaxBodyNodes, 10_000)
	set(&o.MaxSteps, 100_000)
	return o
}
