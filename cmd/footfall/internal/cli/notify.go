package cli

import (
	"fmt"
	"log/slog"
	"net"
)

// notifySocket is the variable in which systemd says where it wants to be told how a service of Type=notify is.
const notifySocket = "NOTIFY_SOCKET"

// notify tells systemd a state, if it is asked for. Nothing depends on it but what systemd makes of it.
func notify(w *world, log *slog.Logger, state string) {
	at := w.getenv(notifySocket)
	if at == "" {
		return
	}
	if err := tell(at, state); err != nil {
		log.Warn("systemd could not be told", "state", state, "error", err)
	}
}

// tell sends a datagram to a Unix socket; one whose name begins with @ is abstract.
func tell(at, state string) error {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: at, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = fmt.Fprint(conn, state)
	return err
}
