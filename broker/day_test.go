package broker

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"footfall/schedule"
)

// diary is a session that writes down when messages come, by their bodies.
type diary struct {
	conn *Conn
	came chan string // the body, as soon as it comes

	mu sync.Mutex
	at map[string][]time.Time
}

// read begins a diary of what comes to a destination.
func (w *world) read(from Address) *diary {
	d := &diary{came: make(chan string, 100), at: map[string][]time.Time{}}
	conn, err := w.b.Attach(d, Client{Remote: "diary"})
	if err != nil {
		w.tb.Fatalf("Attach: %v", err)
	}
	d.conn = conn
	d.do(w, subscribeOp(from))
	synctest.Wait()
	return d
}

func (d *diary) do(w *world, ops ...Op) {
	if err := d.conn.Submit(&Request{Ops: ops}); err != nil {
		w.tb.Fatalf("Submit: %v", err)
	}
}

// Put implements Outbox.
func (d *diary) Put(outputs []Output) {
	for _, o := range outputs {
		if o.Kind == OutputMessage {
			body := string(o.Message.Body)
			d.mu.Lock()
			d.at[body] = append(d.at[body], time.Now())
			d.mu.Unlock()
			d.came <- body
			d.conn.Written(1)
		}
	}
}

// entries are the times at which a body came so far.
func (d *diary) entries(body string) []time.Time {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.at[body])
}

// days are spans over which clocks are as they mostly are, are set forward and are set back.
var days = []struct {
	name, zone string
	from       string // in the zone
	hours      int
}{
	{"of a day like others", "UTC", "2026-01-15T00:00", 24},
	{"when the clock is set forward", "Europe/Berlin", "2026-03-29T00:00", 23},
	{"when the clock is set back", "Europe/Berlin", "2026-10-25T00:00", 25},
	{"when the clock is set back by half an hour", "Australia/Lord_Howe", "2026-04-05T00:00", 24},
}

// onTheWall walks over a span minute by minute and returns when a clock on the wall first shows each time that fits.
func onTheWall(from time.Time, hours int, fits func(wall time.Time) bool) (list []time.Time) {
	var latest time.Time // that the wall has shown, as if in UTC
	for at := from.Add(-3 * time.Hour); at.Before(from.Add(time.Duration(hours)*time.Hour + time.Minute)); at = at.Add(time.Minute) {
		wall := time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), 0, 0, time.UTC)
		fit := false
		for next := latest.Add(time.Minute); !latest.IsZero() && !next.After(wall); next = next.Add(time.Minute) {
			fit = fit || fits(next)
		}
		if fit && at.After(from) {
			list = append(list, at)
		}
		if wall.After(latest) {
			latest = wall
		}
	}
	return list
}

// recurring is something that is due again and again.
type recurring struct {
	// name is the body of its messages.
	name string
	plan func(zone *time.Location) *schedule.Plan
	fits func(wall time.Time) bool
}

func cronPlan(text string) func(zone *time.Location) *schedule.Plan {
	return func(zone *time.Location) *schedule.Plan {
		return &schedule.Plan{Kind: schedule.Repeating, Repeat: schedule.Repeat{Cron: must(schedule.ParseCron(text)), Zone: zone}}
	}
}

func weblogicPlan(text string) func(zone *time.Location) *schedule.Plan {
	return func(zone *time.Location) *schedule.Plan {
		return &schedule.Plan{Kind: schedule.OnSchedule, Schedule: must(schedule.Parse(text)), Zone: zone}
	}
}

var recurrings = []recurring{
	{"cron every five minutes", cronPlan("*/5 * * * *"), func(wall time.Time) bool { return wall.Minute()%5 == 0 }},
	{"cron at some minutes of two hours", cronPlan("15,30,45 2,12 * * *"), func(wall time.Time) bool {
		return (wall.Hour() == 2 || wall.Hour() == 12) && wall.Minute() > 0 && wall.Minute()%15 == 0
	}},
	{"a schedule of half hours", weblogicPlan("0 0 0,30 * * * *"), func(wall time.Time) bool { return wall.Minute()%30 == 0 }},
	{"a schedule of nights and days", weblogicPlan("0 0 10-20 1-2 * * *; 0 0 0 9-17 * * *"), func(wall time.Time) bool {
		night := (wall.Hour() == 1 || wall.Hour() == 2) && wall.Minute() >= 10 && wall.Minute() <= 20
		return night || wall.Hour() >= 9 && wall.Hour() <= 17 && wall.Minute() == 0
	}},
}

// TestADayOfFirings lets a day pass, with a restart after noon, and demands each delivery at its very millisecond and no other:
// of cron expressions, and of messages with a WebLogic schedule that are sent on whenever they come.
func TestADayOfFirings(t *testing.T) {
	to := Address{Kind: Queue, Name: "q"}
	for _, day := range days {
		t.Run(day.name, func(t *testing.T) {
			zone := must(time.LoadLocation(day.zone))
			from := must(time.ParseInLocation("2006-01-02T15:04", day.from, zone))
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(from) + 500*time.Millisecond)
				w := newWorld(t, Options{})
				defer func() { w.stop() }()
				d := w.read(to)
				again := map[string]func(){}
				for _, r := range recurrings {
					send := func() {
						m := newMessage(r.name)
						m.Plan = r.plan(zone)
						d.do(w, sendOp(to, m))
					}
					send()
					if r.plan(zone).Kind == schedule.OnSchedule {
						again[r.name] = send
					}
				}
				got := map[string][]time.Time{}
				pass := func(end time.Time) {
					for over := time.After(time.Until(end)); ; {
						select {
						case body := <-d.came:
							if send := again[body]; send != nil {
								send()
							}
							continue
						case <-over:
						}
						break
					}
					for _, r := range recurrings {
						got[r.name] = append(got[r.name], d.entries(r.name)...)
					}
				}
				pass(from.Add(12*time.Hour + 2*time.Minute))
				w.restart()
				d = w.read(to)
				pass(from.Add(time.Duration(day.hours)*time.Hour + 59*time.Second))
				for _, r := range recurrings {
					if want := onTheWall(from, day.hours, r.fits); !slices.EqualFunc(got[r.name], want, time.Time.Equal) {
						t.Errorf("%s: %d deliveries, not %d; they came at\n%v\nnot at\n%v", r.name, len(got[r.name]), len(want), got[r.name], want)
					}
				}
				w.sound()
			})
		})
	}
}
