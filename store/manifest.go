package store

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/record"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// manifest says how much of the database's list of its tables could be read, and was on disk, at some
// time. Pebble takes damage in that list for its end, and then deletes the tables that it does not know of any more.
type manifest struct {
	number uint64 // of the file, 0 for none
	octets int64
}

// maxManifest is the size above which the list is not read again and again.
const maxManifest = 16 << 20

const (
	manifestMarker = "marker.manifest."
	manifestPrefix = "MANIFEST-"
)

// manifest tells how far the list is on disk now. Where that cannot be told it is what it was.
func (d *directory) manifest(before manifest) manifest {
	m := manifest{number: d.manifestNumber()}
	if m.number == 0 {
		return before
	}
	f, err := d.fs.Open(d.manifestPath(m.number))
	if err != nil {
		return before
	}
	info, err := f.Stat()
	if err == nil && (info.Size() > maxManifest || m.number == before.number && info.Size() == before.octets) {
		err = io.EOF // nothing to be learnt
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		m.octets = readableManifest(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return before
	}
	return m
}

// checkManifest is nil if the list can be read as far as it could once.
func (d *directory) checkManifest(m manifest) error {
	if m.number == 0 || d.manifestNumber() != m.number {
		return nil // there is a newer one
	}
	f, err := d.fs.Open(d.manifestPath(m.number))
	if err != nil {
		return fmt.Errorf("%w: %s cannot be opened: %s", ErrCorrupt, d.manifestPath(m.number), err)
	}
	readable := readableManifest(f)
	if err := f.Close(); err != nil {
		return err
	}
	if readable < m.octets {
		return fmt.Errorf("%w: file %s can be read up to octet %d, and was once up to %d", ErrCorrupt, d.manifestPath(m.number), readable, m.octets)
	}
	return nil
}

// manifestNumber finds the list in force: the marker with the highest number names it. It is 0 if there is none.
func (d *directory) manifestNumber() (number uint64) {
	names, err := d.fs.List(d.join(dbName))
	if err != nil {
		return 0
	}
	newest := int64(-1)
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, manifestMarker)
		if !ok {
			continue
		}
		iteration, value, _ := strings.Cut(rest, ".")
		i, err := strconv.ParseInt(iteration, 10, 64)
		n, err2 := strconv.ParseUint(strings.TrimPrefix(value, manifestPrefix), 10, 64)
		if err == nil && err2 == nil && i > newest {
			newest, number = i, n
		}
	}
	return number
}

func (d *directory) manifestPath(number uint64) string {
	return d.fs.PathJoin(d.join(dbName), fmt.Sprintf("%s%06d", manifestPrefix, number))
}

// readableManifest tells up to which octet the records of a list are whole.
func readableManifest(f vfs.File) (octets int64) {
	r := record.NewReader(f, 0)
	for {
		rec, err := r.Next()
		if err != nil {
			return octets
		}
		if _, err := io.Copy(io.Discard, rec); err != nil {
			return octets
		}
		octets = r.Offset()
	}
}
