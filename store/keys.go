package store

import (
	"encoding/binary"
	"fmt"
)

// Every key is [shard 1][kind 1] and then fields of fixed width, big-endian, so that
// the order of keys is the order of fields.
//
//	meta         -
//	destination  [id 8]
//	backlog      [id 8]
//	schedule     -
//	ref          [backlog 8][9-priority 1][seq 8]
//	attempts     [backlog 8][9-priority 1][seq 8]
//	due          [ms 8, sign bit flipped][seq 8]
//	chunk        [owner 8][n 4]
//	message      [owner 8]                          a message that backlogs share
//	format       -                                  only in metaShard
//	name         [hash of the name 16][destination 8]
//	expiry       [ms 8, sign bit flipped][seq 8][backlog 8][9-priority 1]
//	shared chunk [owner 8][n 4]
//	duplicate    [destination 8][seq 8]             an id that it was sent
type kind uint8

const (
	kindMeta kind = iota + 1
	kindDestination
	kindBacklog
	kindSchedule
	kindRef
	kindAttempts
	kindDue
	kindChunk
	kindMessage
	kindFormat
	kindName
	kindExpiry
	kindSharedChunk
	kindDuplicate
	kindEnd
)

var kindNames = [...]string{
	kindMeta: "meta", kindDestination: "destination", kindBacklog: "backlog", kindSchedule: "schedule",
	kindRef: "ref", kindAttempts: "attempts", kindDue: "due", kindChunk: "chunk", kindMessage: "message", kindFormat: "format",
	kindName: "name", kindExpiry: "expiry", kindSharedChunk: "shared chunk", kindDuplicate: "duplicate",
}

func (k kind) String() string {
	if k > 0 && k < kindEnd {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// metaShard holds what belongs to the store as a whole.
const metaShard Shard = Shards

// keySize is enough for any key.
const keySize = 27

func appendPrefix(dst []byte, s Shard, k kind) []byte { return append(dst, byte(s), byte(k)) }

func appendIDKey(dst []byte, s Shard, k kind, id uint64) []byte {
	return binary.BigEndian.AppendUint64(appendPrefix(dst, s, k), id)
}

// appendPlaceKey is for refs and for attempts, which have the same suffix.
func appendPlaceKey(dst []byte, kd kind, k RefKey) []byte {
	dst = appendIDKey(dst, k.Shard, kd, uint64(k.Backlog))
	dst = append(dst, Priorities-1-k.Priority)
	return binary.BigEndian.AppendUint64(dst, uint64(k.Seq))
}

func appendDueKey(dst []byte, k DueKey) []byte {
	dst = appendIDKey(dst, k.Shard, kindDue, uint64(k.At)^1<<63)
	return binary.BigEndian.AppendUint64(dst, uint64(k.Seq))
}

func appendChunkKey(dst []byte, s Shard, owner Seq, n uint32) []byte {
	return binary.BigEndian.AppendUint32(appendIDKey(dst, s, kindChunk, uint64(owner)), n)
}

// appendLaneEnd is the key after all places of k's priority.
func appendLaneEnd(dst []byte, kd kind, k RefKey) []byte {
	dst = appendIDKey(dst, k.Shard, kd, uint64(k.Backlog))
	return append(dst, Priorities-k.Priority)
}

// keyLengths are the lengths of keys by kind.
var keyLengths = [kindEnd]int{
	kindMeta: 2, kindDestination: 10, kindBacklog: 10, kindSchedule: 2,
	kindRef: 19, kindAttempts: 19, kindDue: 18, kindChunk: 14, kindMessage: 10, kindFormat: 2, kindName: 26, kindExpiry: 27,
	kindSharedChunk: 14, kindDuplicate: 18,
}

// splitKey checks the frame of a key: that its shard and kind exist and go
// together, and that its length is that of its kind.
func splitKey(key []byte) (Shard, kind, error) {
	if len(key) < 2 {
		return 0, 0, malformed("key", key)
	}
	s, k := Shard(key[0]), kind(key[1])
	switch {
	case s > metaShard, k == 0, k >= kindEnd, len(key) != keyLengths[k], (s == metaShard) != (k == kindFormat):
		return 0, 0, malformed("key", key)
	}
	return s, k, nil
}

func decodeIDKey(key []byte, want kind) (Shard, uint64, error) {
	s, k, err := splitKey(key)
	if err != nil || k != want {
		return 0, 0, malformed(want.String()+" key", key)
	}
	return s, binary.BigEndian.Uint64(key[2:]), nil
}

func decodePlaceKey(key []byte, want kind) (RefKey, error) {
	s, k, err := splitKey(key)
	if err != nil || k != want || key[10] >= Priorities {
		return RefKey{}, malformed(want.String()+" key", key)
	}
	return RefKey{
		Shard:    s,
		Backlog:  BacklogID(binary.BigEndian.Uint64(key[2:])),
		Priority: Priorities - 1 - key[10],
		Seq:      Seq(binary.BigEndian.Uint64(key[11:])),
	}, nil
}

func decodeDueKey(key []byte) (DueKey, error) {
	s, k, err := splitKey(key)
	if err != nil || k != kindDue {
		return DueKey{}, malformed("due key", key)
	}
	return DueKey{
		Shard: s,
		At:    int64(binary.BigEndian.Uint64(key[2:]) ^ 1<<63),
		Seq:   Seq(binary.BigEndian.Uint64(key[10:])),
	}, nil
}

// decodeChunkKey is for chunks of both kinds.
func decodeChunkKey(key []byte) (s Shard, owner Seq, n uint32, err error) {
	s, k, err := splitKey(key)
	if err != nil || k != kindChunk && k != kindSharedChunk {
		return 0, 0, 0, malformed("chunk key", key)
	}
	return s, Seq(binary.BigEndian.Uint64(key[2:])), binary.BigEndian.Uint32(key[10:]), nil
}
