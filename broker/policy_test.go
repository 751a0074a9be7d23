package broker

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"footfall/schedule"
)

// scriptPolicies reads policies as scripts have them, one a line; a schedule has underscores for blanks.
func scriptPolicies(lines string) *Policies {
	var list []Policy
	for line := range strings.Lines(lines) {
		match, w := parseWords(line)
		p := Policy{Match: match}
		if text, ok := w.named["time-to-deliver"]; ok {
			p.TimeToDeliver = &Override{Plan: scriptPlan(strings.ReplaceAll(text, "_", " "))}
		}
		p.DefaultTTL, p.MaxTTL = scriptTTL(w.named["default-ttl"]), scriptTTL(w.named["max-ttl"])
		p.Expired = map[string]ExpiredAction{"discard": ExpiredDiscard, "log": ExpiredLog, "redirect": ExpiredRedirect}[w.named["expired"]]
		scriptPolicyMore(&p, w)
		list = append(list, p)
	}
	return must(NewPolicies(list))
}

func scriptPlan(text string) *schedule.Plan {
	if text == "none" {
		return nil
	}
	if strings.Contains(text, " ") {
		return &schedule.Plan{Kind: schedule.OnSchedule, Schedule: must(schedule.Parse(text))}
	}
	if d := must(schedule.ParseDelay(text)); d > 0 {
		return &schedule.Plan{Kind: schedule.After, Delay: d.Milliseconds()}
	}
	return &schedule.Plan{}
}

func scriptTTL(text string) *time.Duration {
	switch text {
	case "":
		return nil
	case "none":
		return new(time.Duration)
	}
	return new(must(time.ParseDuration(text)))
}

func TestPatternsMatchByLevels(t *testing.T) {
	rows := []struct {
		pattern  string
		yes, not []string
	}{
		{"/queue/*", []string{"a", "", "*"}, []string{"a.b", "."}},
		{"/queue/>", []string{"a", "a.b", "a.b.c", "", "..."}, nil},
		{"/queue/orders.*", []string{"orders.eu", "orders."}, []string{"orders", "orders.eu.de", "order.eu", "Orders.eu"}},
		{"/queue/orders.>", []string{"orders", "orders.eu", "orders.eu.de"}, []string{"orderss", "order", "x.orders"}},
		{"/queue/orders.#", []string{"orders", "orders.eu", "orders.eu.de"}, []string{"orderss"}},
		{"/queue/orders.**", []string{"orders", "orders.eu", "orders.eu.de"}, []string{"orderss"}},
		{"/queue/>.audit", []string{"audit", "a.audit", "a.b.audit", "audit.audit"}, []string{"audit.a", "xaudit"}},
		{"/queue/a.>.b", []string{"a.b", "a.x.b", "a.b.b", "a.x.y.b"}, []string{"a", "b", "a.b.c", "ab"}},
		{"/queue/a.*.>", []string{"a.b", "a.b.c"}, []string{"a"}},
		{"/queue/a.>.*", []string{"a.b", "a.b.c"}, []string{"a"}},
		{"/queue/>.a.>.b.>", []string{"a.b", "x.a.y.b.z", "b.a.b", "a.a.b"}, []string{"b.a", "a", "b"}},
		{"/queue/*.>.*", []string{"a.b", "a.b.c"}, []string{"a"}},
		{"/queue/a/b.*", []string{"a/b.c"}, []string{"a.b.c", "a/b"}},
	}
	for _, row := range rows {
		p, err := parsePattern(row.pattern)
		if err != nil {
			t.Errorf("%s: %v", row.pattern, err)
			continue
		}
		for _, name := range row.yes {
			if !p.matches(strings.Split(name, ".")) {
				t.Errorf("%s does not match %q", row.pattern, name)
			}
		}
		for _, name := range row.not {
			if p.matches(strings.Split(name, ".")) {
				t.Errorf("%s matches %q", row.pattern, name)
			}
		}
	}
}

// naiveMatch is what a pattern means: one level, or any number of levels.
func naiveMatch(pattern, name []string) bool {
	if len(pattern) == 0 {
		return len(name) == 0
	}
	switch pattern[0] {
	case ">", "#", "**":
		return naiveMatch(pattern[1:], name) || len(name) > 0 && naiveMatch(pattern, name[1:])
	case "*":
		return len(name) > 0 && naiveMatch(pattern[1:], name[1:])
	}
	return len(name) > 0 && name[0] == pattern[0] && naiveMatch(pattern[1:], name[1:])
}

// drawnPattern and drawnName draw of few levels, so that many fit.
func drawnPattern() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", "*", ">", "#", "**"}), 1, 6)
}

func drawnName() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", ""}), 1, 7)
}

func TestPatternsMatchLikeANaiveMatcher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern, name := drawnPattern().Draw(t, "pattern"), drawnName().Draw(t, "name")
		text := "/topic/" + strings.Join(pattern, ".")
		if text == "/topic/" {
			return // no name
		}
		p, err := parsePattern(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		saw := p.matches(name)
		if !p.isWildcard() {
			saw = p.name == strings.Join(name, ".")
		}
		if want := naiveMatch(pattern, name); saw != want {
			t.Fatalf("%s and %q: expected %v", text, name, want)
		}
	})
}

// allNames are all names of up to six of the levels that drawnPattern has, and one that it has not.
func allNames() (names [][]string) {
	last := [][]string{nil}
	for range 6 {
		var longer [][]string
		for _, name := range last {
			for _, level := range []string{"a", "b", "c"} {
				longer = append(longer, append(slices.Clip(name), level))
			}
		}
		names = append(names, longer...)
		last = longer
	}
	return names
}

func TestPatternsOverlapWhereANameMatchesBoth(t *testing.T) {
	names := allNames()
	levels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", ">"}), 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (pattern, []string) {
			l := append(levels.Draw(t, label), "*") // one wildcard at least
			return must(parsePattern("/queue/" + strings.Join(l, "."))), l
		}
		p, a := draw("a")
		o, b := draw("b")
		// Two patterns of up to four levels that have a name in common have one of six levels at most.
		want := slices.ContainsFunc(names, func(name []string) bool { return naiveMatch(a, name) && naiveMatch(b, name) })
		if saw := p.overlaps(&o); saw != want || o.overlaps(&p) != want {
			t.Fatalf("%q and %q: expected %v, saw %v", p.text, o.text, want, saw)
		}
	})
}

func TestMatchingTakesStepsByTheProductOfTheLevels(t *testing.T) {
	// A matcher that tries each wildcard by itself would take longer than there is time.
	many := "/queue/" + strings.Repeat(">.a.", maxPatternLevels/2-1) + ">.b"
	p := must(parsePattern(many))
	name := strings.Split(strings.Repeat("a.", 1000)+"a", ".")
	if p.matches(name) {
		t.Error("a name that does not end in b matches")
	}
	name[len(name)-1] = "b"
	if !p.matches(name) {
		t.Error("a name that ends in b does not match")
	}
	all := must(parsePattern("/queue/>.>.>"))
	if len(all.levels) != 1 || !all.matches(name) {
		t.Errorf(">.>.> is not >, but %v", all.levels)
	}
}

func BenchmarkChoose(b *testing.B) {
	var list []Policy
	for i := range 100 {
		list = append(list,
			Policy{Match: fmt.Sprintf("/queue/orders.eu.%d", i), Expired: ExpiredLog},
			Policy{Match: fmt.Sprintf("/queue/orders.r%d.>", i), Expired: ExpiredLog})
	}
	p := must(NewPolicies(list))
	deep := Address{Kind: Queue, Name: strings.Repeat("a.", 500) + "a"}
	for _, a := range []Address{{Kind: Queue, Name: "orders.eu.7"}, {Kind: Queue, Name: "orders.r7.x"}, {Kind: Queue, Name: "other"}, {Kind: Topic, Name: "other"}, deep} {
		b.Run(a.String()[:min(20, len(a.String()))], func(b *testing.B) {
			for b.Loop() {
				p.Choose(a)
			}
		})
	}
}

func TestTheMostSpecificPatternCounts(t *testing.T) {
	// Each comes before all that stand behind it.
	order := []string{
		"/queue/orders.eu.de",
		"/queue/orders.eu.*",
		"/queue/orders.*.de",
		"/queue/*.eu.de",
		"/queue/orders.eu.>",
		"/queue/orders.>.de",
		"/queue/>.eu.de",
		"/queue/orders.*.*",
		"/queue/*.eu.*",
		"/queue/*.*.de",
		"/queue/orders.*.>",
		"/queue/*.eu.>",
		"/queue/*.>.de",
		"/queue/orders.>",
		"/queue/>.de",
		"/queue/>.eu.>",
		"/queue/*.*.*",
		"/queue/*.*.>",
		"/queue/*.>",
		"/queue/>",
	}
	for i := range order {
		var list []Policy
		for _, match := range slices.Backward(order[i:]) {
			list = append(list, Policy{Match: match, Expired: ExpiredLog})
		}
		p, err := NewPolicies(list)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Choose(Address{Kind: Queue, Name: "orders.eu.de"})[PolicyExpired]
		if want := int16(len(list) - 1); got != want {
			t.Errorf("expected %s; saw %s", order[i], list[got].Match)
		}
	}
}

func TestEachSettingIsChosenByItself(t *testing.T) {
	p := scriptPolicies(`/queue/> default-ttl=1h max-ttl=2h expired=log
/queue/orders.> max-ttl=3h
/queue/orders.eu default-ttl=none
/topic/orders.> time-to-deliver=1s
`)
	rows := map[Address][]int16{
		{Kind: Queue, Name: "x"}:         {-1, 0, 0, 0},
		{Kind: Queue, Name: "orders.us"}: {-1, 0, 1, 0},
		{Kind: Queue, Name: "orders.eu"}: {-1, 2, 1, 0},
		{Kind: Topic, Name: "orders.eu"}: {3, -1, -1, -1},
		{Kind: Topic, Name: "x"}:         {-1, -1, -1, -1},
	}
	for a, want := range rows {
		if diff := cmp.Diff(chosen(want...), p.Choose(a)); diff != "" {
			t.Errorf("%v: %s", a, diff)
		}
	}
	if none := (*Policies)(nil).Choose(Address{Kind: Queue, Name: "x"}); none != chosen() {
		t.Errorf("no policies choose %v", none)
	}
}

// chosen is a choice of which the first settings are given.
func chosen(first ...int16) (c Choice) {
	for s := range c {
		c[s] = -1
	}
	copy(c[:], first)
	return c
}

// TestChoosingIsLikeTryingAll compares with the rule as it is written: of all that match, the first in order.
func TestChoosingIsLikeTryingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []Policy
		for _, levels := range rapid.SliceOfN(drawnPattern(), 0, 8).Draw(t, "matches") {
			p := Policy{Match: "/queue/" + strings.Join(levels, ".")}
			settings := rapid.IntRange(1, 3).Draw(t, "settings")
			if settings&1 != 0 {
				p.DefaultTTL = new(time.Duration)
			}
			if settings&2 != 0 {
				p.Expired = ExpiredLog
			}
			if _, err := NewPolicies(append(list, p)); err == nil {
				list = append(list, p)
			}
		}
		name := drawnName().Draw(t, "name")
		p := must(NewPolicies(list))
		got := p.Choose(Address{Kind: Queue, Name: strings.Join(name, ".")})
		want := chosen()
		for _, s := range PolicySettings() {
			for i := range list {
				if !list[i].Has(s) || !naiveMatch(strings.Split(strings.TrimPrefix(list[i].Match, "/queue/"), "."), name) {
					continue
				}
				if want[s] >= 0 {
					best, other := must(parsePattern(list[want[s]].Match)), must(parsePattern(list[i].Match))
					c := other.compare(&best)
					if c == 0 {
						t.Fatalf("%s and %s are tied for %q", best.text, other.text, name)
					}
					if c > 0 {
						continue
					}
				}
				want[s] = int16(i)
			}
		}
		if got != want {
			t.Fatalf("%q: expected %v, saw %v", name, want, got)
		}
	})
}

func TestWrongPoliciesAreNamed(t *testing.T) {
	ttl := func(d time.Duration) *time.Duration { return &d }
	after := func(d time.Duration) *Override {
		return &Override{Plan: &schedule.Plan{Kind: schedule.After, Delay: d.Milliseconds()}}
	}
	long := strings.Repeat("a", maxPatternName+1)
	rows := []struct {
		name string
		list []Policy
		want string
	}{
		{"no kind", []Policy{{Match: "orders", Expired: ExpiredLog}}, `policy 0: match must begin with /queue/ or /topic/; it is "orders"`},
		{"no name", []Policy{{Match: "/queue/", Expired: ExpiredLog}}, `policy 0: match has no name after the kind; it is "/queue/"`},
		{"a long name", []Policy{{Match: "/queue/" + long, Expired: ExpiredLog}}, "policy 0: match has a name of more than 1024 octets"},
		{"no UTF-8", []Policy{{Match: "/queue/\xff", Expired: ExpiredLog}}, "policy 0: match is not valid UTF-8"},
		{"a control character", []Policy{{Match: "/queue/a\x01", Expired: ExpiredLog}}, "policy 0: match has a control character"},
		{"an escaped slash", []Policy{{Match: "/queue/a%2fb", Expired: ExpiredLog}}, "policy 0: match has %2F, which names have as a plain slash"},
		{"part of a level", []Policy{{Match: "/queue/a.b*", Expired: ExpiredLog}}, `policy 0: match has the level "b*": a wildcard stands for whole levels`},
		{"too many levels", []Policy{{Match: "/queue/*" + strings.Repeat(".a", 32), Expired: ExpiredLog}}, "policy 0: match has more than 32 levels"},
		{"nothing set", []Policy{{Match: "/queue/a"}}, "policy 0: match has no setting beside it"},
		{
			"the same destination",
			[]Policy{{Match: "/queue/a", Expired: ExpiredLog}, {Match: "/queue/a", MaxTTL: ttl(0)}},
			`policy 1: match is the same destination as "/queue/a"`,
		},
		{
			"the same destinations",
			[]Policy{{Match: "/queue/a.>.*", Expired: ExpiredLog}, {Match: "/queue/a.*.#", MaxTTL: ttl(0)}},
			`policy 1: match names the same destinations as "/queue/a.>.*"`,
		},
		{
			"equally specific",
			[]Policy{{Match: "/queue/>.b.>", Expired: ExpiredLog}, {Match: "/queue/>.a.>", Expired: ExpiredDiscard}},
			`policy 1: match is as specific as "/queue/>.b.>", some names match both, and both have expired`,
		},
		{"a long default", []Policy{{Match: "/queue/a", DefaultTTL: ttl(time.Hour), MaxTTL: ttl(time.Minute)}}, "policy 0: default-ttl is longer than max-ttl: 1h0m0s and 1m0s"},
		{"dead on arrival", []Policy{{Match: "/queue/a", TimeToDeliver: after(time.Hour), DefaultTTL: ttl(time.Hour)}}, "policy 0: time-to-deliver is not shorter than a time to live of 1h0m0s"},
		{"a negative time", []Policy{{Match: "/queue/a", MaxTTL: ttl(-1)}}, "policy 0: max-ttl must be whole milliseconds"},
		{"a fraction", []Policy{{Match: "/queue/a", DefaultTTL: ttl(1)}}, "policy 0: default-ttl must be whole milliseconds"},
		{"a repeating override", []Policy{{Match: "/queue/a", TimeToDeliver: &Override{Plan: &schedule.Plan{Kind: schedule.Repeating}}}}, "policy 0: time-to-deliver must be a delay or a schedule"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			_, err := NewPolicies(row.list)
			var all PolicyErrors
			if !errors.As(err, &all) || len(all) != 1 || !strings.HasPrefix(all[0].Error(), row.want) {
				t.Fatalf("expected %q; saw %v", row.want, err)
			}
			if twice := len(row.list) > 1; twice != (all[0].Other == 0) {
				t.Errorf("the other one is %d", all[0].Other)
			}
		})
	}
}

func TestWhatIsNotAmbiguousIsNoTie(t *testing.T) {
	rows := [][2]Policy{
		{{Match: "/queue/a.*", Expired: ExpiredLog}, {Match: "/queue/b.*", Expired: ExpiredLog}},
		{{Match: "/queue/a.*", Expired: ExpiredLog}, {Match: "/queue/*.b", Expired: ExpiredLog}},
		{{Match: "/queue/a.*", Expired: ExpiredLog}, {Match: "/topic/a.*", Expired: ExpiredLog}},
		{{Match: "/queue/>.a.>", Expired: ExpiredLog}, {Match: "/queue/>.b.>", MaxTTL: new(time.Duration)}},
		{{Match: "/queue/>.a", Expired: ExpiredLog}, {Match: "/queue/>.b", Expired: ExpiredLog}},
		{{Match: "/queue/a", Expired: ExpiredLog}, {Match: "/topic/a", Expired: ExpiredLog}},
	}
	for _, row := range rows {
		if _, err := NewPolicies(row[:]); err != nil {
			t.Error(err)
		}
	}
}

func TestThereMayBeSoManyPolicies(t *testing.T) {
	build := func(n int, format string) error {
		list := make([]Policy, n)
		for i := range list {
			list[i] = Policy{Match: fmt.Sprintf(format, i), Expired: ExpiredLog}
		}
		_, err := NewPolicies(list)
		return err
	}
	if err := errors.Join(build(MaxPolicies, "/queue/q%d"), build(MaxWildcardPolicies, "/topic/t%d.>")); err != nil {
		t.Error(err)
	}
	var all PolicyErrors
	if err := build(MaxPolicies+1, "/queue/q%d"); !errors.As(err, &all) || all[0].Index != MaxPolicies {
		t.Errorf("one policy too many: %v", err)
	}
	if err := build(MaxWildcardPolicies+1, "/topic/t%d.>"); !errors.As(err, &all) || all[0].Index != MaxWildcardPolicies {
		t.Errorf("one wildcard too many: %v", err)
	}
}

func TestADestinationHasNoWildcard(t *testing.T) {
	if a, err := ParseDestination("/topic/a/b.c"); err != nil || a != (Address{Kind: Topic, Name: "a/b.c"}) {
		t.Errorf("saw %v, %v", a, err)
	}
	for _, text := range []string{"", "a", "/queue/", "/queue/a.*", "/topic/>", "/temp-queue/a"} {
		if a, err := ParseDestination(text); err == nil {
			t.Errorf("%q is taken for %v", text, a)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, seed := range []string{"/queue/a.b", "/queue/a.*", "/topic/>.>.*", "/queue/", "/queue/a*", "/queue/\x00", "/topic/..."} {
		f.Add(seed, "a.b")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		p, err := parsePattern(text)
		if err != nil {
			return
		}
		levels := strings.Split(name, ".")
		if p.isWildcard() {
			p.matches(levels)
			if !p.overlaps(&p) || p.compare(&p) != 0 {
				t.Fatalf("%q is not like itself", text)
			}
			return
		}
		if p.address().String() != text {
			t.Fatalf("%q is read as %v", text, p.address())
		}
	})
}

// expiryWorld is a broker that logs what expires of /queue/log.>, in a small window, and what it logs.
func expiryWorld(t *testing.T) (*world, *bytes.Buffer) {
	log := new(bytes.Buffer)
	w := newWorld(t, Options{
		BacklogMessages: 4,
		Policies:        scriptPolicies("/queue/log.> expired=log\n/queue/log.not.> expired=discard"),
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}})),
	})
	return w, log
}

func TestExpiredMessagesAreLoggedWhereThePolicySaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := expiryWorld(t)
		defer func() { w.stop() }()
		c := w.connect("c")
		send := func(to string, n int, with func(m *Message)) (ids []string) {
			for range n {
				m := newMessage("x")
				m.TTL = 3000
				with(m)
				c.do(Op{Kind: OpSend, To: address(to), Message: m})
				c.take()
				ids = append(ids, m.ID.String())
			}
			return ids
		}
		send("/queue/other", 1, func(*Message) {})
		send("/queue/log.not.a", 1, func(*Message) {})
		// Six of which some are behind the window, as they have been since their time came.
		ids := send("/queue/log.a", 6, func(m *Message) { m.Delay = 1000 })
		ids = append(ids, send("/queue/log.b", 1, func(m *Message) { m.Persistent = false })...)
		ids = append(ids, send("/queue/log.c", 1, func(m *Message) { m.Delay = 4000 })...)
		time.Sleep(4 * time.Second)
		synctest.Wait()
		for i, id := range ids {
			to, age := "a", "3s"
			switch i {
			case 6:
				to = "b"
			case 7:
				to, age = "c", "0s"
			}
			line := fmt.Sprintf("level=INFO msg=\"message expired\" destination=/queue/log.%s message-id=%s age=%s\n", to, id, age)
			if strings.Count(log.String(), line) != 1 {
				t.Errorf("expected once: %s", line)
			}
		}
		if n := strings.Count(log.String(), "\n"); n != len(ids) {
			t.Errorf("expected %d lines; saw %d\n%s", len(ids), n, log)
		}
		w.settle()
		rep, err := w.store.Check()
		if err = errors.Join(err, rep.Err(), w.check()); err != nil {
			t.Error(err)
		}
	})
}

func TestALogOfExpiredMessagesIsShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := expiryWorld(t)
		defer func() { w.stop() }()
		c := w.connect("c")
		for q := range destinationLines + 2 {
			for range 5 {
				m := newMessage("x")
				m.TTL = 1000
				c.do(Op{Kind: OpSend, To: address(fmt.Sprintf("/queue/log.%02d", q)), Message: m})
			}
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		lines, more, counted := 0, 0, 0
		for line := range strings.Lines(log.String()) {
			var n int
			if _, rest, ok := strings.Cut(line, "count="); ok {
				more++
				_, _ = fmt.Sscan(rest, &n)
				counted += n
				continue
			}
			lines++
		}
		if want := 5 * (destinationLines + 2); lines != destinationLines || more > destinationLines+1 || lines+counted != want {
			t.Errorf("%d lines, %d of more, which count %d\n%s", lines, more, counted, log)
		}
		st, _ := w.b.Stats(t.Context())
		if st.Expired != 5*(destinationLines+2) || st.Ready != 0 {
			t.Errorf("%d expired, %d ready", st.Expired, st.Ready)
		}
		// The next second has lines of its own.
		before := strings.Count(log.String(), "\n")
		m := newMessage("x")
		m.TTL = 1000
		c.do(Op{Kind: OpSend, To: address("/queue/log.z"), Message: m})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if after := strings.Count(log.String(), "\n"); after != before+1 || !strings.Contains(log.String(), "/queue/log.z") {
			t.Errorf("%d lines more", after-before)
		}
	})
}

// TestWhatIsReadForTheLogMayGoMeanwhile has a message behind the window, which expires and is read for that, come into
// the window before the read is done.
func TestWhatIsReadForTheLogMayGoMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, log := expiryWorld(t)
		defer func() { w.stop() }()
		c := w.connect("c")
		const sent = 5 // one of them behind the window
		for range sent {
			m := newMessage("x")
			m.TTL, m.Priority = 1000, 0
			c.do(Op{Kind: OpSend, To: address("/queue/log.a"), Message: m})
		}
		c.take()
		w.slow.hold(false, true, false)
		time.Sleep(time.Second)
		synctest.Wait()
		w.slow.mu.Lock()
		read := w.slow.after // holds the one read, and nothing else from here on
		w.slow.after = nil
		w.slow.mu.Unlock()
		expired := func() uint64 {
			st, _ := w.b.Stats(t.Context())
			return st.Expired
		}
		if n := expired(); n != sent-1 {
			t.Errorf("%d expired before the read was done", n)
		}
		c.do(Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", Text: "/queue/log.a", From: address("/queue/log.a"), Mode: AckClient, Window: 1}})
		if outs := c.take(); len(outs) != 0 || expired() != sent {
			t.Errorf("%d outputs, %d expired, after a page was loaded", len(outs), expired())
		}
		for range 8 { // the window ends before that place again
			m := newMessage("y")
			m.Priority = 9
			c.do(Op{Kind: OpSend, To: address("/queue/log.a"), Message: m})
		}
		c.take()
		close(read)
		synctest.Wait()
		if n := strings.Count(log.String(), "\n"); expired() != sent || n != sent {
			t.Errorf("%d expired, %d lines\n%s", expired(), n, log)
		}
		w.settle()
		rep, err := w.store.Check()
		if err = errors.Join(err, rep.Err(), w.check()); err != nil {
			t.Error(err)
		}
	})
}

func TestATopicIsForgottenWhenItsMessageExpiresBeforeItIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, Options{Policies: scriptPolicies("/topic/> time-to-deliver=1h")})
		defer func() { w.stop() }()
		c := w.connect("c")
		m := newMessage("x")
		m.TTL = 1000
		c.do(Op{Kind: OpSend, To: address("/topic/a"), Message: m})
		c.take()
		if st, _ := w.b.Stats(t.Context()); st.Destinations != 0 || st.Expired != 1 {
			t.Errorf("%d destinations, %d expired", st.Destinations, st.Expired)
		}
	})
}

func TestAScheduleOfTheDestinationSaysWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Two in the morning; a bubble begins at midnight.
		w := newWorld(t, Options{Policies: scriptPolicies("/queue/night time-to-deliver=0_0_0_2_*_*_*")})
		defer func() { w.stop() }()
		c := w.connect("c")
		midnight := time.Now().UTC()
		m := newMessage("x")
		m.Delay = 1000
		c.do(
			Op{Kind: OpSubscribe, Subscribe: &SubscribeOp{ID: "s", Text: "/queue/night", From: address("/queue/night")}},
			Op{Kind: OpSend, To: address("/queue/night"), Message: m, WantReceipt: true, Receipt: "r"},
		)
		due := midnight.Add(2 * time.Hour).UnixMilli()
		outs := c.take()
		if len(outs) != 1 || outs[0].DeliverAt != due || outs[0].ScheduledID == "" {
			t.Fatalf("expected a RECEIPT that says %d; saw %+v", due, outs)
		}
		time.Sleep(2*time.Hour - time.Millisecond)
		if outs := c.take(); len(outs) != 0 {
			t.Errorf("early: %+v", outs)
		}
		time.Sleep(time.Millisecond)
		if outs := c.take(); len(outs) != 1 || outs[0].Kind != OutputMessage {
			t.Errorf("late: %+v", outs)
		}
	})
}

// TestTheDocsSayWhatMatches looks at the table of docs/destinations.md.
func TestTheDocsSayWhatMatches(t *testing.T) {
	text := string(must(os.ReadFile("../docs/destinations.md")))
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`/") {
			continue
		}
		codes := func(cell string) (list []string) {
			for i, part := range strings.Split(cell, "`") {
				if i%2 == 1 {
					list = append(list, part)
				}
			}
			return list
		}
		match := codes(cells[1])[0]
		p, err := NewPolicies([]Policy{{Match: match, Expired: ExpiredLog}})
		if err != nil {
			t.Error(err)
			continue
		}
		for i, cell := range cells[2:4] {
			for _, name := range codes(cell) {
				rows++
				chosen := p.Choose(must(ParseDestination(name)))[PolicyExpired] == 0
				if want := i == 0; chosen != want {
					t.Errorf("%s matches %s: %v", match, name, chosen)
				}
			}
		}
	}
	if rows < 10 {
		t.Errorf("found only %d names", rows)
	}
}
