package server

import (
	"sync"
	"sync/atomic"
	"time"
)

// logLines keeps the log of what clients can cause at will to a line for each class and second. The classes are few and fixed, such as
// the reasons for which connections end; what a client says is none.
type logLines struct {
	mu      sync.Mutex
	classes map[string]logClass
	leftOut atomic.Uint64 // of all classes
}

type logClass struct {
	last    time.Time
	leftOut int // lines since then
}

// take tells whether a line of a class may be written now, and then how many of the class were left out since the last one.
func (l *logLines) take(class string, now time.Time) (leftOut int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.classes[class]
	if age := now.Sub(c.last); !c.last.IsZero() && age >= 0 && age < time.Second {
		c.leftOut++
		l.classes[class] = c
		l.leftOut.Add(1)
		return 0, false
	}
	if l.classes == nil {
		l.classes = map[string]logClass{}
	}
	l.classes[class] = logClass{last: now}
	return c.leftOut, true
}

// line writes a line of a class, unless it is too much. Its severity is that of write, a method of the log.
func (l *logLines) line(class string, now time.Time, write func(msg string, args ...any), msg string, args ...any) {
	leftOut, ok := l.take(class, now)
	if !ok {
		return
	}
	if leftOut > 0 {
		args = append(args, "left_out", leftOut)
	}
	write(msg, args...)
}
