package broker

import (
	"context"
	"time"
)

// watchDisk asks every second how much disk is free.
func (b *Broker) watchDisk() {
	defer close(b.watched)
	if b.opt.DiskFree == nil || b.opt.DiskFreeBytes < 0 {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	r := reclaimer{b: b}
	defer r.end()
	for {
		free, err := b.opt.DiskFree()
		if err != nil {
			b.opt.Log.Warn("cannot tell how much disk is free", "error", err)
		} else {
			b.inbox.run(func() { b.core.diskFree(free) })
			if free < enough(b.opt.DiskFreeBytes) {
				r.begin()
			}
		}
		select {
		case <-tick.C:
		case <-b.stop:
			return
		}
	}
}

// enough is the free disk from which on there is no alarm any more.
func enough(limit int64) uint64 { return uint64(limit) + uint64(limit)/4 }

// reclaimer has the store give back disk, once at a time.
type reclaimer struct {
	b      *Broker
	cancel context.CancelFunc
	done   chan struct{} // of the last time
}

func (r *reclaimer) begin() {
	if r.b.opt.Reclaim == nil {
		return
	}
	if r.done != nil {
		select {
		case <-r.done:
		default:
			return
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel, r.done = cancel, make(chan struct{})
	go func(done chan struct{}) {
		defer close(done)
		defer cancel()
		if err := r.b.opt.Reclaim(ctx); err != nil && ctx.Err() == nil {
			r.b.opt.Log.Warn("disk cannot be given back", "error", err)
		}
	}(r.done)
}

func (r *reclaimer) end() {
	if r.done != nil {
		r.cancel()
		<-r.done
	}
}
