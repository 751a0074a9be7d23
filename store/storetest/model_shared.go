package storetest

import (
	"math/rand/v2"
	"slices"

	"footfall/store"
)

// putShared stores one message in several backlogs of a shard.
func (m *Model) putShared(rng *rand.Rand, b *store.Batch, changes map[backlogKey]bool) {
	first, ok := pick(rng, m.backlogs, compareBacklogs)
	if !ok {
		return
	}
	var places []store.RefKey
	priority := uint8(rng.IntN(store.Priorities))
	for _, k := range m.sameShard(first) {
		if k == first || rng.IntN(3) > 0 {
			places = append(places, store.RefKey{Shard: k.shard, Backlog: k.id, Priority: priority, Seq: m.next()})
		}
	}
	msg := m.message(rng)
	msg.owner = m.next()
	msg.blob = b.PutShared(first.shard, msg.owner, []byte(msg.head), []byte(msg.body), uint32(len(places)))
	for _, ref := range places {
		b.PutSharedRef(ref, msg.owner, msg.bytes())
		m.addRef(ref, msg, changes)
	}
}

func (m *Model) sameShard(as backlogKey) (keys []backlogKey) {
	for k := range m.backlogs {
		if k.shard == as.shard {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, compareBacklogs)
	return keys
}

// drop takes a message out of its place in the store: by itself, or by the head mark, which every step moves. Who knows that it is the
// last place of a message may say so or not.
func (m *Model) drop(rng *rand.Rand, b *store.Batch, ref store.RefKey) {
	msg := m.refs[ref]
	hasAttempts := msg.attempts != (store.Attempts{})
	if rng.IntN(2) == 0 || !m.isFirst(ref) {
		b.DropPlace(ref)
	}
	if msg.owner == 0 {
		b.LeaveRef(ref, msg.blob, hasAttempts)
		return
	}
	b.LeaveRef(ref, store.Blob{}, hasAttempts)
	places := 0
	for k, other := range m.refs {
		if k.Shard == ref.Shard && other.owner == msg.owner {
			places++
		}
	}
	if places == 1 && rng.IntN(2) == 0 {
		b.DropShared(ref.Shard, msg.owner, msg.blob)
		return
	}
	b.GiveBack(ref.Shard, msg.owner, msg.blob, 1)
}

// isFirst tells whether nothing of its priority is before ref.
func (m *Model) isFirst(ref store.RefKey) bool {
	for k := range m.refs {
		if k.Shard == ref.Shard && k.Backlog == ref.Backlog && k.Priority == ref.Priority && k.Seq < ref.Seq {
			return false
		}
	}
	return true
}
