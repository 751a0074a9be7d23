package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"footfall/cmd/footfall/internal/client"
	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
	"footfall/store"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitDenied      = 4 // a login is needed, or a role, or a permission
	exitConflict    = 5 // somebody else uses it
	exitUnreachable = 6 // or not in time
	exitStore       = store.ExitCode
)

// failure is an error with the exit code that it leads to.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage is an error in what the user wrote.
func usage(err error) error { return &failure{exitUsage, err} }

// exitCode is the exit code of a command that ended with err.
func exitCode(err error) int {
	var f *failure
	var version *store.VersionError
	var loss *store.LossError
	var refused *client.ServerError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	case errors.Is(err, node.ErrExposed):
		return exitUsage
	case errors.Is(err, store.ErrLocked), errors.Is(err, syscall.EADDRINUSE):
		return exitConflict
	case errors.Is(err, store.ErrCorrupt), errors.Is(err, store.ErrFailed), errors.As(err, &loss):
		return exitStore
	case errors.Is(err, store.ErrForeign), errors.Is(err, fs.ErrNotExist):
		return exitNotFound
	case errors.As(err, &version), errors.As(err, &refused):
		return exitFailure
	case config.IsUsage(err):
		return exitUsage
	case unreachable(err):
		return exitUnreachable
	}
	return exitFailure
}

// unreachable tells whether err is of a broker that is not there, or not in time.
func unreachable(err error) bool {
	var op *net.OpError
	isOp := errors.As(err, &op)    // not net.Error, which a failed system call of any kind is
	if isOp && op.Op == "listen" { // an address of our own
		return false
	}
	return errors.Is(err, client.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		isOp || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
