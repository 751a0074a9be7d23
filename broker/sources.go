package broker

import "strings"

// sources lists what a SUBSCRIBE is to take from: each queue, each temporary destination, each durable subscription, and all its topics
// together; and the patterns of queues that it follows.
func (c *core) sources(conn *Conn, op *SubscribeOp) (list []Source, follows []pattern, err *Error) {
	parts := op.Parts
	if parts == nil {
		op.From = op.From.canonical()
		parts = []Source{{Text: op.Text, Address: op.From, NoCreate: op.NoCreate}}
	}
	if op.Browse != nil && (op.Parts != nil || op.From.Wildcard()) {
		return nil, nil, &Error{Kind: KindInvalid, Message: "subscription " + quote(op.ID) + " browses several destinations"}
	}
	var topics []string
	seen := map[Address]bool{}
	for _, part := range parts {
		a := part.Address.canonical()
		if err := c.mayTake(conn, a); err != nil {
			return nil, nil, err
		}
		if err := c.mayMake(conn, a, part.NoCreate); err != nil {
			return nil, nil, err
		}
		switch {
		case seen[a]:
		case a.Kind == Queue && a.Wildcard():
			follows = append(follows, patternOf(Queue, a.Name))
		case a.Kind != Topic || a.IsTemporary():
			list = append(list, part)
		case a.Wildcard():
			topics = append(topics, a.Name)
		default:
			if err := c.mayResolve(a); err != nil {
				return nil, nil, err
			}
			topics = append(topics, a.Name)
		}
		seen[a] = true
	}
	if len(topics) > 0 {
		op.From = Address{Kind: Topic, Name: strings.Join(topics, partsMark)}.canonical()
		list = append(list, Source{Address: op.From})
	}
	named := op.Durable != (SubscriptionName{}) || op.Shared != (SubscriptionName{})
	if named && op.Parts != nil && (len(topics) == 0 || len(list) > 1 || len(follows) > 0) {
		return nil, nil, &Error{Kind: KindInvalid, Message: "subscription " + quote(op.ID) + " is durable or shared, and not to topics only"}
	}
	return list, follows, nil
}
