package store

import (
	"errors"
	"fmt"
)

// Errors that callers may branch on. They come wrapped, with the directory or the key in the text.
var (
	// ErrClosed is given by what is called after Close.
	ErrClosed = errors.New("store: closed")
	// ErrFailed is given by what is called after a write, a sync or a read failed. It
	// wraps the first failure.
	ErrFailed = errors.New("store: failed")
	// ErrLocked says that another process, or another Store of this one, has the directory open.
	ErrLocked = errors.New("another process uses the directory")
	// ErrForeign says that the directory holds files, but not those of a whole store.
	ErrForeign = errors.New("not a store")
	// ErrCorrupt says that what is stored cannot be what was written.
	ErrCorrupt = errors.New("store is damaged")
)

// VersionError is the refusal of a store whose format is not the one that this program reads.
type VersionError struct {
	Found, Supported uint32
}

// Error names both versions.
func (e *VersionError) Error() string {
	return fmt.Sprintf("the store has format version %d, this program reads versions up to %d", e.Found, e.Supported)
}

// LossError is the refusal of a store that is behind what its high-water mark says
// was once on disk: batches that somebody was told about are missing.
type LossError struct {
	// Epoch is the store's, MarkEpoch that of the mark.
	Epoch, MarkEpoch uint32
	// Missing is the number of batches that are missing, by shard.
	Missing map[Shard]uint64
}

// Error tells how much is missing.
func (e *LossError) Error() string {
	var batches uint64
	for _, n := range e.Missing {
		batches += n
	}
	if batches == 0 {
		return fmt.Sprintf("store lost its last start: it is at epoch %d, but epoch %d was on disk", e.Epoch, e.MarkEpoch)
	}
	return fmt.Sprintf("store lost at least %d batches in %d of its shards that were once on disk", batches, len(e.Missing))
}

// malformed is an ErrCorrupt that names what could not be read and shows its first octets.
func malformed(what string, octets []byte) error {
	const most = 32
	more := ""
	if len(octets) > most {
		octets, more = octets[:most], "..."
	}
	return fmt.Errorf("%w: malformed %s %x%s", ErrCorrupt, what, octets, more)
}
