package broker

import "strings"

// sources lists what a SUBSCRIBE is to take from: each queue, each temporary destination, each durable subscription, and all its topics
// together.
func (c *core) sources(conn *Conn, op *SubscribeOp) ([]Source, *Error) {
	if op.Parts == nil {
		op.From = op.From.canonical()
		if err := c.mayTake(conn, op.From); err != nil {
			return nil, err
		}
		return []Source{{Text: op.Text, Address: op.From}}, c.mayMake(conn, op.From, op.NoCreate)
	}
	if op.Browse != nil {
		return nil, &Error{Kind: KindInvalid, Message: "subscription " + quote(op.ID) + " browses several destinations"}
	}
	var list []Source
	var topics []string
	seen := map[Address]bool{}
	for _, part := range op.Parts {
		a := part.Address
		if err := c.mayTake(conn, a); err != nil {
			return nil, err
		}
		if err := c.mayMake(conn, a, part.NoCreate); err != nil {
			return nil, err
		}
		if seen[a] {
			continue
		}
		seen[a] = true
		if a.Kind != Topic || a.IsTemporary() {
			list = append(list, part)
			continue
		}
		if !a.Wildcard() {
			if err := c.mayResolve(a); err != nil {
				return nil, err
			}
		}
		topics = append(topics, a.Name)
	}
	if len(topics) > 0 {
		op.From = Address{Kind: Topic, Name: strings.Join(topics, partsMark)}.canonical()
		list = append(list, Source{Address: op.From})
	}
	if one := op.Durable != (SubscriptionName{}) || op.Shared != (SubscriptionName{}); one && (len(list) > 1 || len(topics) == 0) {
		return nil, &Error{Kind: KindInvalid, Message: "subscription " + quote(op.ID) + " is durable or shared, and not to topics only"}
	}
	return list, nil
}
