package selector

// Size is how many properties m remembers at most.
func (m *Message) Size() int { return len(m.slots) }
