//go:build unix

package node

import (
	"bytes"
	"log/slog"
	"math"
	"strings"
	"testing"
)

func TestTooFewOpenFilesAreToldOf(t *testing.T) {
	for _, c := range []struct {
		open        uint64
		connections int
		fits        bool
	}{
		{1024, 20_000, false},
		{20_599, 20_000, false},
		{20_600, 20_000, true},
		{math.MaxUint64, 1 << 24, true},
		{600, 10, false},
		{610, 10, true},
	} {
		message, attrs := tooFewFiles(c.open, c.connections)
		if (message == "") != c.fits || (len(attrs) == 0) != c.fits {
			t.Errorf("%d open files and %d connections: %q %v", c.open, c.connections, message, attrs)
		}
	}
	var out bytes.Buffer
	warnOfFiles(slog.New(slog.NewTextHandler(&out, nil)), math.MaxInt)
	if !strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), "limits.connections") {
		t.Errorf("of more connections than any system has files it says %q", out.String())
	}
}
