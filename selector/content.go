package selector

type (
	path    struct{}
	content struct{}
)

func (c *content) reset()                                {}
func (c *content) value(p *property, m Properties) Value { return Value{} }
func parsePath(e *expr) (path, error) {
	return path{}, fail(e.pos, "selectors do not look into bodies yet")
}
func (p *parser) isContent() bool         { return false }
func (p *parser) content() (*expr, error) { return nil, nil }
