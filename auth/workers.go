package auth

import (
	"context"
	"sync/atomic"
)

// workers run what takes much memory and time, a few at a time. Others wait, and not too many of them.
type workers struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64
}

func newWorkers(count, waiting int) *workers {
	return &workers{slots: make(chan struct{}, count), most: int64(waiting)}
}

// do runs f when its turn comes, in the goroutine of the caller. It is ErrBusy when too many wait, and the error of ctx when that ends
// first.
func (w *workers) do(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case w.slots <- struct{}{}:
	default:
		if w.waiting.Add(1) > w.most {
			w.waiting.Add(-1)
			return ErrBusy
		}
		defer w.waiting.Add(-1)
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-w.slots }()
	f()
	return nil
}
