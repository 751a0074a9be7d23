package schedule_test

import (
	"fmt"
	"time"

	"footfall/schedule"
)

func ExampleSchedule_Next() {
	s, err := schedule.Parse("0 0 0 9 * * 2-6; 0 0 0 12 last * *")
	if err != nil {
		fmt.Println(err)
		return
	}
	at := time.Date(2027, 1, 29, 0, 0, 0, 0, time.UTC)
	for range 3 {
		at, _ = s.Next(at, time.UTC)
		fmt.Println(at.Format("Mon 2 Jan 15:04"))
	}
	// Output:
	// Fri 29 Jan 09:00
	// Sun 31 Jan 12:00
	// Mon 1 Feb 09:00
}

func ExampleRequest_Resolve() {
	var r schedule.Request
	for name, value := range map[string]string{"AMQ_SCHEDULED_DELAY": "1000", "x-delay": "5000"} {
		if h, ok := schedule.Lookup([]byte(name)); ok {
			r.Set(h, value)
		}
	}
	_, err := r.Resolve(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), schedule.Options{})
	fmt.Println(err)
	// Output:
	// AMQ_SCHEDULED_DELAY "1000" and x-delay "5000" contradict each other: they are 4s apart
}

func ExampleJob_AppendUpcoming() {
	cron, err := schedule.ParseCron("0 6 * * mon")
	if err != nil {
		fmt.Println(err)
		return
	}
	repeat := schedule.Repeat{Cron: cron, Delay: 500, Period: 60_000, Count: 1}
	job, _ := repeat.Start(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, ms := range job.AppendUpcoming(nil, 4) {
		fmt.Println(time.UnixMilli(ms).UTC().Format("Mon 2 Jan 15:04:05.0"))
	}
	// Output:
	// Mon 4 Jan 06:00:00.5
	// Mon 4 Jan 06:01:00.5
	// Mon 11 Jan 06:00:00.5
	// Mon 11 Jan 06:01:00.5
}
