package server

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footfall/auth"
	"footfall/broker"
	"footfall/frames"
)

func TestErrorsHaveOneLineALengthAndADetail(t *testing.T) {
	e := &broker.Error{Kind: kindVersion, Message: `bad: "a\b"`, Detail: "more"}
	for v, message := range map[frames.Version]string{frames.V10: `bad: "a\b"`, frames.V11: `bad\c "a\\b"`, frames.V12: `bad\c "a\\b"`} {
		want := strings.Join([]string{
			"ERROR", "content-length:16", "message:" + message, "content-type:text/plain", `receipt-id:r\c1`, "version:1.0,1.1,1.2",
			"", `bad: "a\b"`, "more", "\x00",
		}, "\n")
		if d := cmp.Diff(want, string(appendError(nil, v, e, true, `r\c1`))); d != "" {
			t.Errorf("%v (-want +got):\n%s", v, d)
		}
	}
}

func TestWhatIsNotMadeForClientsStaysOutOfAnError(t *testing.T) {
	own := &broker.Error{Kind: "k", Message: "m", Detail: "d"}
	for _, c := range []struct {
		err  error
		want broker.Error
	}{
		{own, *own},
		{fmt.Errorf("more: %w", own), *own},
		{&frames.Error{Kind: frames.KindEscape, Message: "m", Detail: "d"}, broker.Error{Kind: "escape", Message: "m", Detail: "d"}},
		{fmt.Errorf("store: %w", broker.ErrClosed), broker.Error{Kind: kindShutdown, Message: "the broker is shutting down"}},
		{fmt.Errorf("user 17: %w", auth.ErrLogin), broker.Error{Kind: kindLogin, Message: "unknown login or wrong passcode"}},
		{fmt.Errorf("rule 5: %w", auth.ErrDenied), broker.Error{Kind: kindDenied, Message: "permission denied"}},
		{errors.New("open /etc/secret: no such file"), broker.Error{Kind: kindInternal, Message: "internal error"}},
	} {
		if got := *asError(c.err); got != c.want {
			t.Errorf("%v becomes %+v", c.err, got)
		}
	}
}
