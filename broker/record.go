package broker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"footfall/frames"
	"footfall/schedule"
	"footfall/store"
)

// The head of a stored message, all that is not its body:
//
//	version  1 octet, recordVersion, or recordVersionTopic
//	flags    2 octets
//	dialect  1 octet, the frames.Version of the header block
//	priority 1 octet
//	shard    1 octet, then seq as uvarint: the message id
//	time     uvarint, Timestamp
//	at       uvarint, DeliverAt, with flagDeliverAt
//	target   8 octets, the destination, with flagTarget
//	expires  uvarint, Expires, with flagExpires; then TTL, with flagTTL
//	texts    uvarint length and octets: Destination, UserID, ScheduledID, each with its flag
//	job      uvarint length and octets, with flagJob: what schedule.Job.AppendBinary wrote
//	limit    uvarint, RedeliveryLimit + 1, with flagLimit
//	back     uvarints with flagBack: the backlog, its seq there, deliveries, failures
//	retain   1 octet, with flagRetain: a Retain
//	group    uvarint length and octets, with flagGroup: - for the last message of it, else +, and the name
//	topic    uvarint length and octets, with recordVersionTopic: see Message.topic
//	header   the rest, the header block
const (
	recordVersion      = 1
	recordVersionTopic = 2 // there are no flags left
)

const (
	flagPersistent = 1 << iota
	flagHasLength
	flagHasTimestamp
	flagHasCR
	flagDeliverAt // DeliverAt and ScheduledID
	flagTarget
	flagDestination
	flagUserID
	flagChosenID
	flagExpires
	flagJob
	flagTTL
	flagLimit
	flagBack
	flagGroup
	flagRetain
)

var errRecord = errors.New("broker: a stored message cannot be read")

// appendHead appends the head of m to dst. target is the destination that a waiting
// message goes to, 0 where its place says so.
func appendHead(dst []byte, m *Message, target store.DestinationID) []byte {
	var flags uint16
	set := func(cond bool, flag uint16) {
		if cond {
			flags |= flag
		}
	}
	set(m.Persistent, flagPersistent)
	set(m.HasLength, flagHasLength)
	set(m.HasTimestamp, flagHasTimestamp)
	set(m.Header.HasCR, flagHasCR)
	set(m.DeliverAt != 0, flagDeliverAt)
	set(target != 0, flagTarget)
	set(m.Destination != "", flagDestination)
	set(m.UserID != "", flagUserID)
	set(m.ChosenID, flagChosenID)
	set(m.Expires != 0, flagExpires)
	set(m.job != nil, flagJob)
	set(m.TTL > 0, flagTTL)
	set(m.HasRedeliveryLimit, flagLimit)
	set(m.back != nil, flagBack)
	set(m.Group != "", flagGroup)
	set(m.Retain != RetainNone, flagRetain)

	version := byte(recordVersion)
	if m.topic != "" {
		version = recordVersionTopic
	}
	dst = append(dst, version, byte(flags>>8), byte(flags), byte(m.Header.Dialect), m.Priority, m.ID.Shard)
	dst = binary.AppendUvarint(dst, m.ID.Seq)
	dst = binary.AppendUvarint(dst, uint64(m.Timestamp))
	if m.DeliverAt != 0 {
		dst = binary.AppendUvarint(dst, uint64(m.DeliverAt))
	}
	if target != 0 {
		dst = binary.BigEndian.AppendUint64(dst, uint64(target))
	}
	if m.Expires != 0 {
		dst = binary.AppendUvarint(dst, uint64(m.Expires))
	}
	if m.TTL > 0 {
		dst = binary.AppendUvarint(dst, uint64(m.TTL))
	}
	if m.Destination != "" {
		dst = appendText(dst, m.Destination)
	}
	if m.UserID != "" {
		dst = appendText(dst, m.UserID)
	}
	if m.DeliverAt != 0 {
		dst = appendText(dst, m.ScheduledID)
	}
	if m.job != nil {
		job, _ := m.job.AppendBinary(nil) // never fails
		dst = appendText(dst, string(job))
	}
	if m.HasRedeliveryLimit {
		dst = binary.AppendUvarint(dst, uint64(m.RedeliveryLimit+1))
	}
	if b := m.back; b != nil {
		dst = binary.AppendUvarint(dst, uint64(b.backlog))
		dst = binary.AppendUvarint(dst, uint64(b.seq))
		dst = binary.AppendUvarint(dst, uint64(b.deliveries))
		dst = binary.AppendUvarint(dst, uint64(b.failures))
	}
	if m.Retain != RetainNone {
		dst = append(dst, byte(m.Retain))
	}
	if m.Group != "" {
		dst = appendText(dst, groupMark(m.GroupEnd)+m.Group)
	}
	if m.topic != "" {
		dst = appendText(dst, m.topic)
	}
	return append(dst, m.Header.Raw...)
}

// groupMark comes before the name of a group.
func groupMark(end bool) string {
	if end {
		return "-"
	}
	return "+"
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// decodeRecord makes a message of a head and a body, both of which it keeps. zones finds the zones of jobs.
func decodeRecord(head, body []byte, blob store.Blob, zones *schedule.Zones) (*Message, store.DestinationID, error) {
	r := recordReader{rest: head}
	version := r.octet()
	if version != recordVersion && version != recordVersionTopic && r.err == nil {
		return nil, 0, fmt.Errorf("%w: record version %d, this program knows %d", errRecord, version, recordVersionTopic)
	}
	flags := uint16(r.octet())<<8 | uint16(r.octet())
	m := &Message{Body: body, blob: blob, head: uint32(len(head))}
	m.Persistent = flags&flagPersistent != 0
	m.HasLength = flags&flagHasLength != 0
	m.HasTimestamp = flags&flagHasTimestamp != 0
	m.Header.HasCR = flags&flagHasCR != 0
	m.Header.Dialect = frames.Version(r.octet())
	m.Priority = r.octet()
	m.ID.Shard = r.octet()
	m.ID.Seq = r.uvarint()
	m.Timestamp = int64(r.uvarint())
	if flags&flagDeliverAt != 0 {
		m.DeliverAt = int64(r.uvarint())
	}
	m.ChosenID = flags&flagChosenID != 0
	var target store.DestinationID
	if flags&flagTarget != 0 {
		if b := r.take(8); b != nil {
			target = store.DestinationID(binary.BigEndian.Uint64(b))
		}
	}
	if flags&flagExpires != 0 {
		m.Expires = int64(r.uvarint())
	}
	if flags&flagTTL != 0 {
		m.TTL = int64(r.uvarint())
	}
	if flags&flagDestination != 0 {
		m.Destination = r.text()
	}
	if flags&flagUserID != 0 {
		m.UserID = r.text()
	}
	if flags&flagDeliverAt != 0 {
		m.ScheduledID = r.text()
	}
	if flags&flagJob != 0 {
		job, err := schedule.DecodeJob(r.take(r.uvarint()), zones)
		if err != nil && r.err == nil {
			return nil, 0, fmt.Errorf("%w: %w", errRecord, err)
		}
		m.job = &job
	}
	if flags&flagLimit != 0 {
		m.RedeliveryLimit, m.HasRedeliveryLimit = int32(min(r.uvarint(), math.MaxInt32))-1, true
	}
	if flags&flagBack != 0 {
		m.back = &comeback{backlog: store.BacklogID(r.uvarint()), seq: store.Seq(r.uvarint())}
		m.back.deliveries, m.back.failures = uint32(min(r.uvarint(), math.MaxUint32)), uint16(min(r.uvarint(), math.MaxUint16))
	}
	if flags&flagRetain != 0 {
		m.Retain = Retain(r.octet())
	}
	if flags&flagGroup != 0 {
		if text := r.text(); text != "" {
			m.Group, m.GroupEnd = text[1:], text[:1] == groupMark(true)
		}
	}
	if version == recordVersionTopic {
		m.topic = r.text()
	}
	if r.err != nil {
		return nil, 0, r.err
	}
	if m.Priority >= store.Priorities || m.Header.Dialect > frames.V12 {
		return nil, 0, fmt.Errorf("%w: priority %d, dialect %d", errRecord, m.Priority, m.Header.Dialect)
	}
	m.Header.Raw = r.rest
	return m, target, nil
}

// recordReader takes fields off the front of rest until one is cut short.
type recordReader struct {
	rest []byte
	err  error
}

func (r *recordReader) take(n uint64) []byte {
	if r.err != nil || n > uint64(len(r.rest)) {
		if r.err == nil {
			r.err = fmt.Errorf("%w: cut short", errRecord)
		}
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *recordReader) octet() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *recordReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.take(uint64(len(r.rest)) + 1)
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *recordReader) text() string { return string(r.take(r.uvarint())) }
