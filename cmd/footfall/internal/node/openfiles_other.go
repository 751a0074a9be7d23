//go:build !unix

package node

import "log/slog"

// warnOfFiles does nothing where there is no such limit.
func warnOfFiles(*slog.Logger, int) {}
