package schedule

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// jobVersion is the first octet of a stored job. What follows it in this version: flags, then
// numbers as signed varints: due, start, left, delay, period, count; and with a cron expression its canonical
// text and the name of its zone, each after its length as an unsigned varint.
const jobVersion = 1

// The flags of a stored job.
const (
	jobBegun = 1 << iota
	jobCron

	jobFlags = jobBegun | jobCron
)

// maxCount bounds the count in a stored job; what senders may ask for is bounded by [Options].
const maxCount = 1 << 40

// errJob is what is wrong with octets that are no job.
var errJob = errors.New("not a stored job")

// AppendBinary appends the job as it is stored, at most 400 octets. It never fails.
func (j Job) AppendBinary(dst []byte) ([]byte, error) {
	r := &j.repeat
	flags := byte(0)
	if j.begun {
		flags |= jobBegun
	}
	if r.Cron != nil {
		flags |= jobCron
	}
	dst = append(dst, jobVersion, flags)
	for _, n := range [...]int64{j.due, j.start, j.left, r.Delay, r.Period, r.Count} {
		dst = binary.AppendVarint(dst, n)
	}
	if r.Cron != nil {
		dst = appendText(dst, r.Cron.String())
		dst = appendText(dst, zoneName(r.Zone))
	}
	return dst, nil
}

func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func zoneName(zone *time.Location) string {
	if zone == nil {
		return "UTC"
	}
	return zone.String()
}

// DecodeJob reads what [Job.AppendBinary] wrote. It checks all of it, so that a job is a possible one whatever
// the octets are. An error of type *[Error] is about the zone, which this machine may not
// know although another one did.
func DecodeJob(src []byte, zones *Zones) (Job, error) {
	if len(src) < 2 || src[0] != jobVersion || src[1]&^jobFlags != 0 {
		return Job{}, fmt.Errorf("%w: version and flags % x", errJob, src[:min(len(src), 2)])
	}
	d := decoder{src[2:], true}
	var j Job
	r := &j.repeat
	j.begun = src[1]&jobBegun != 0
	j.due = d.number(0, MaxInstant)
	j.start = d.number(-maxDelay, MaxInstant)
	j.left = d.number(Forever, maxCount)
	r.Delay = d.number(0, maxDelay)
	r.Period = d.number(0, maxDelay)
	r.Count = d.number(Forever, maxCount)
	hasCron := src[1]&jobCron != 0
	isEndless := r.Count == Forever
	var cron, zone string
	if hasCron {
		cron, zone = d.text(), d.text()
	}
	isPossible := (r.Count == 0 || r.Period > 0) && j.left <= r.Count && (j.left == Forever) == isEndless && !(hasCron && isEndless)
	if !d.ok || len(d.rest) != 0 || !isPossible {
		return Job{}, fmt.Errorf("%w: % x", errJob, src[:min(len(src), 64)])
	}
	if !hasCron {
		return j, nil
	}
	var err error
	if r.Cron, err = ParseCron(cron); err != nil {
		return Job{}, fmt.Errorf("%w: %v", errJob, err)
	}
	if r.Zone, err = zones.Load(zone); err != nil {
		return Job{}, err
	}
	return j, nil
}

// decoder reads numbers and texts; after its first failure ok is false.
type decoder struct {
	rest []byte
	ok   bool
}

func (d *decoder) number(low, high int64) int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 || n < low || n > high {
		d.ok, d.rest = false, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) text() string {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)-size) {
		d.ok, d.rest = false, nil
		return ""
	}
	text := string(d.rest[size : size+int(n)])
	d.rest = d.rest[size+int(n):]
	return text
}
