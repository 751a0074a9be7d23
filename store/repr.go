package store

import "encoding/binary"

// A batch is in Pebble's own representation from its first octet on, so that it is
// written, applied and (one day) replicated without being copied or encoded again:
// [sequence 8, Pebble's][count 4, little-endian] and then the operations, each
// [operation 1][len(key)][key] and, but for deletes, [len(value)][value].
const reprHeader = 12

// operation has the numbers of Pebble's internal key kinds.
type operation uint8

const (
	opDelete       operation = 0
	opSet          operation = 1
	opMerge        operation = 2 // see merger.go
	opSingleDelete operation = 7
	opDeleteRange  operation = 15 // the value is the end, exclusive
)

func setReprCount(repr []byte, n uint32) { binary.LittleEndian.PutUint32(repr[8:], n) }

// reprReader gives the operations of a batch one after the other.
type reprReader struct {
	rest  []byte
	count uint32
}

func readRepr(repr []byte) (reprReader, error) {
	if len(repr) < reprHeader {
		return reprReader{}, malformed("batch", repr)
	}
	return reprReader{rest: repr[reprHeader:], count: binary.LittleEndian.Uint32(repr[8:])}, nil
}

// next returns slices of the batch; raw is the whole operation. After the last one ok is false.
func (r *reprReader) next() (op operation, key, value, raw []byte, ok bool, err error) {
	if len(r.rest) == 0 {
		if r.count != 0 {
			return 0, nil, nil, nil, false, malformed("batch that ends early", nil)
		}
		return 0, nil, nil, nil, false, nil
	}
	d := decoder{rest: r.rest, what: "batch operation", all: r.rest}
	op = operation(d.octet())
	key = d.octets(d.uvarint())
	switch op {
	case opSet, opMerge, opDeleteRange:
		value = d.octets(d.uvarint())
	case opDelete, opSingleDelete:
	default:
		d.fail()
	}
	if r.count == 0 {
		d.fail()
	}
	if d.err != nil {
		return 0, nil, nil, nil, false, d.err
	}
	raw = r.rest[:len(r.rest)-len(d.rest)]
	r.rest = d.rest
	r.count--
	return op, key, value, raw, true, nil
}
