package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocketPath is the length of the longest path of a Unix socket, in octets: 108 are the system's limit, and at first it has
// a longer one.
const maxSocketPath = 90

// open opens the socket of l.
func (l *Listener) open() (net.Listener, error) {
	if l.kind() != kindUnix {
		return net.Listen("tcp", l.Listen)
	}
	if err := removeStaleSocket(l.Listen); err != nil {
		return nil, err
	}
	mode, _ := strconv.ParseUint(first(l.SocketMode, "0660"), 8, 32)
	return listenUnix(l.Listen, fs.FileMode(mode))
}

// listenUnix listens on a socket in a directory of its own first, into which nobody else sees, and then gives it its mode and its name.
func listenUnix(at string, mode fs.FileMode) (net.Listener, error) {
	dir, err := os.MkdirTemp(filepath.Dir(at), ".s")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false) // it is called otherwise
	if err = os.Chmod(hidden, mode); err == nil {
		err = os.Rename(hidden, at)
	}
	if err != nil {
		_ = l.Close()
		return nil, err
	}
	return &unixListener{l, at}, nil
}

// unixListener is a Unix socket under the name that it was given.
type unixListener struct {
	*net.UnixListener
	at string
}

// Addr implements net.Listener.
func (l *unixListener) Addr() net.Addr { return &net.UnixAddr{Name: l.at, Net: "unix"} }

// Close implements net.Listener. The socket is gone with it.
func (l *unixListener) Close() error {
	err := l.UnixListener.Close()
	if err == nil {
		_ = os.Remove(l.at)
	}
	return err
}

// removeStaleSocket removes what a process left behind that was killed. A socket on which somebody listens, and what
// is no socket, stays and is an error.
func removeStaleSocket(at string) error {
	info, err := os.Lstat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%s is there already, and is no socket", at)
	}
	if c, err := net.Dial("unix", at); err == nil {
		_ = c.Close()
		return fmt.Errorf("%s: %w", at, syscall.EADDRINUSE)
	}
	return os.Remove(at)
}
