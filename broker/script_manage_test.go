package broker

import (
	"context"
	"fmt"
	"strings"
)

// operate does the commands of an operator:
//
//	delete dest [unused] [empty], create dest, look dest, pause|resume dest production|consumption|all
func (s *script) operate(cmd string, w words, out *strings.Builder) bool {
	ctx := context.Background()
	var text string
	var err error
	switch cmd {
	case "delete":
		var gone Deleted
		when := strings.Join(w.args[1:], " ")
		gone, err = s.w.b.DeleteDestination(ctx, address(w.args[0]), Deletion{Unused: strings.Contains(when, "unused"), Empty: strings.Contains(when, "empty")})
		text = fmt.Sprintf("deleted: %d messages, %d consumers, %d durable", gone.Messages, gone.Consumers, gone.Durables)
	case "create":
		var made bool
		made, err = s.w.b.CreateDestination(ctx, address(w.args[0]))
		text = fmt.Sprintf("made: %v", made)
	case "look":
		var d DestinationDetail
		d, err = s.w.b.LookAt(ctx, address(w.args[0]))
		text = fmt.Sprintf("ready %d unacked %d consumers %d browsers %d durable %d paused %q kept %v", d.Ready, d.Unacked, d.Consumers, d.Browsers, d.Durables, d.Paused, d.Kept)
	case "pause", "resume":
		var p Pause
		what := must(ParsePause(w.args[1]))
		if cmd == "pause" {
			p, err = s.w.b.PauseDestination(ctx, address(w.args[0]), what, 0)
		} else {
			p, err = s.w.b.PauseDestination(ctx, address(w.args[0]), 0, what)
		}
		text = "paused: " + p.String()
	default:
		return false
	}
	if err != nil {
		text = err.Error()
	}
	fmt.Fprintln(out, text)
	return true
}
