package store

import (
	"encoding/binary"
	"math/bits"
)

// Every value begins with the version of its encoding. Numbers are uvarints unless
// said otherwise.
const (
	valueV1 = 1
	// valueBlobV1 is the version of a message whose body is in chunks.
	valueBlobV1 = 2
	// valueSharedV1 is the version of the place of a message that is stored elsewhere.
	valueSharedV1 = 3
	// valuePropertiesV1 is the version of a destination that has properties.
	valuePropertiesV1 = 2
)

// A message is [1][len(head)][head][body], or [2][len(head)][head][owner][chunks][bytes].

func appendMessagePrefix(dst []byte, version byte, head int) []byte {
	return binary.AppendUvarint(append(dst, version), uint64(head))
}

func appendBlob(dst []byte, b Blob) []byte {
	dst = binary.AppendUvarint(dst, uint64(b.Owner))
	dst = binary.AppendUvarint(dst, uint64(b.Chunks))
	return binary.AppendUvarint(dst, b.Bytes)
}

// decodeMessage returns slices of value.
func decodeMessage(value []byte) (head, body []byte, blob Blob, err error) {
	d := decoder{rest: value, what: "message", all: value}
	version := d.octet()
	head = d.octets(d.uvarint())
	switch version {
	case valueV1:
		return head, d.rest, Blob{}, d.err
	case valueBlobV1:
		blob = Blob{Owner: Seq(d.uvarint()), Chunks: d.uvarint32(), Bytes: d.uvarint()}
		if blob.Bytes > MaxBatchBytes || blob != blobOf(blob.Owner, blob.Bytes) {
			d.fail()
		}
		return head, nil, blob, d.end()
	}
	return nil, nil, Blob{}, malformed("message", value)
}

// blobOf is the blob of so many octets.
func blobOf(owner Seq, bytes uint64) Blob {
	if bytes <= ChunkBytes {
		return Blob{}
	}
	return Blob{Owner: owner, Chunks: uint32((bytes-1)/ChunkBytes + 1), Bytes: bytes}
}

// chunkLength is the number of octets in the n-th chunk of a blob.
func (b Blob) chunkLength(n uint32) int {
	return int(min(ChunkBytes, b.Bytes-uint64(n)*ChunkBytes))
}

// A chunk is [1][octets].
func decodeChunk(value []byte) ([]byte, error) {
	if len(value) == 0 || value[0] != valueV1 {
		return nil, malformed("chunk", value)
	}
	return value[1:], nil
}

// Attempts are [1][deliveries][failures], and [shown] unless that is 0.
func appendAttempts(dst []byte, a Attempts) []byte {
	dst = binary.AppendUvarint(append(dst, valueV1), uint64(a.Deliveries))
	dst = binary.AppendUvarint(dst, uint64(a.Failures))
	if a.Shown == 0 {
		return dst
	}
	return binary.AppendUvarint(dst, uint64(a.Shown))
}

func decodeAttempts(value []byte) (Attempts, error) {
	d := decode("attempts", value)
	a := Attempts{Deliveries: d.uvarint32(), Failures: d.uvarint32()}
	if len(d.rest) > 0 {
		a.Shown = d.uvarint32()
	}
	return a, d.end()
}

// A destination is [1][kind 1][created 8, big-endian][len(name)][name], or the same with [2] and its properties behind.
func appendDestination(dst []byte, d Destination) []byte {
	version := byte(valueV1)
	if d.Properties != "" {
		version = valuePropertiesV1
	}
	dst = append(dst, version, d.Kind)
	dst = binary.BigEndian.AppendUint64(dst, uint64(d.Created))
	dst = binary.AppendUvarint(dst, uint64(len(d.Name)))
	return append(append(dst, d.Name...), d.Properties...)
}

func decodeDestination(key, value []byte) (Destination, error) {
	s, id, err := decodeIDKey(key, kindDestination)
	if err != nil {
		return Destination{}, err
	}
	d := decoder{rest: value, what: "destination", all: value}
	version := d.octet()
	dest := Destination{Shard: s, ID: DestinationID(id), Kind: d.octet(), Created: int64(d.fixed64())}
	dest.Name = string(d.octets(d.uvarint()))
	switch version {
	case valueV1:
	case valuePropertiesV1:
		if dest.Properties = string(d.octets(uint64(len(d.rest)))); dest.Properties == "" {
			d.fail()
		}
	default:
		d.fail()
	}
	return dest, d.end()
}

// A backlog is [1][destination 8, big-endian][bytes][lanes 2, big-endian] and, for each lane whose bit is set in lanes, from priority 0 on,
// [count][head][seen]. Lanes that are all zero have no bit.
func appendBacklog(dst []byte, b *Backlog) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, valueV1), uint64(b.Destination))
	dst = binary.AppendUvarint(dst, b.Bytes)
	var lanes uint16
	for p := range b.Lanes {
		if b.Lanes[p] != (Lane{}) {
			lanes |= 1 << p
		}
	}
	dst = binary.BigEndian.AppendUint16(dst, lanes)
	for ; lanes != 0; lanes &= lanes - 1 {
		l := &b.Lanes[bits.TrailingZeros16(lanes)]
		dst = binary.AppendUvarint(dst, l.Count)
		dst = binary.AppendUvarint(dst, uint64(l.Head))
		dst = binary.AppendUvarint(dst, uint64(l.Seen))
	}
	return dst
}

func decodeBacklog(key, value []byte) (Backlog, error) {
	s, id, err := decodeIDKey(key, kindBacklog)
	if err != nil {
		return Backlog{}, err
	}
	d := decode("backlog", value)
	b := Backlog{Shard: s, ID: BacklogID(id), Destination: DestinationID(d.fixed64()), Bytes: d.uvarint()}
	lanes := d.fixed16()
	if lanes>>Priorities != 0 {
		d.fail()
		lanes = 0
	}
	for ; lanes != 0; lanes &= lanes - 1 {
		b.Lanes[bits.TrailingZeros16(lanes)] = Lane{Count: d.uvarint(), Head: Seq(d.uvarint()), Seen: Seq(d.uvarint())}
	}
	return b, d.end()
}

// A schedule is [1][count][bytes], and [returning] unless that is 0.
func appendSchedule(dst []byte, s Schedule) []byte {
	dst = binary.AppendUvarint(binary.AppendUvarint(append(dst, valueV1), s.Count), s.Bytes)
	if s.Returning == 0 {
		return dst
	}
	return binary.AppendUvarint(dst, s.Returning)
}

func decodeSchedule(key, value []byte) (Schedule, error) {
	s, k, err := splitKey(key)
	if err != nil || k != kindSchedule {
		return Schedule{}, malformed("schedule key", key)
	}
	d := decode("schedule", value)
	sched := Schedule{Shard: s, Count: d.uvarint(), Bytes: d.uvarint()}
	if len(d.rest) > 0 {
		sched.Returning = d.uvarint()
	}
	return sched, d.end()
}

// decoder reads fields one after the other and remembers the first that was not there.
type decoder struct {
	rest []byte
	what string
	all  []byte
	err  error
}

// decode starts on a value of version 1.
func decode(what string, value []byte) decoder {
	d := decoder{rest: value, what: what, all: value}
	if d.octet() != valueV1 {
		d.fail()
	}
	return d
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = malformed(d.what, d.all)
	}
	d.rest = nil
}

// end returns the error; octets that are left over are one.
func (d *decoder) end() error {
	if len(d.rest) != 0 {
		d.fail()
	}
	return d.err
}

func (d *decoder) octets(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	v := d.rest[:n:n]
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) octet() byte {
	if v := d.octets(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) fixed16() uint16 {
	if v := d.octets(2); v != nil {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

func (d *decoder) fixed32() uint32 {
	if v := d.octets(4); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (d *decoder) fixed64() uint64 {
	if v := d.octets(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

func (d *decoder) uvarint32() uint32 {
	v := d.uvarint()
	if v > 1<<32-1 {
		d.fail()
	}
	return uint32(v)
}
