package schedule_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"footfall/schedule"
	"pgregory.net/rapid"
)

const day = 24 * time.Hour

func TestDelayForms(t *testing.T) {
	rows := []struct {
		text string
		want time.Duration
	}{
		// Milliseconds.
		{"0", 0},
		{"1500", 1500 * time.Millisecond},
		{"+1500", 1500 * time.Millisecond},
		{"0000000000000000000000000001500", 1500 * time.Millisecond},
		{"4294968296", 4294968296 * time.Millisecond},
		{"315619200000", schedule.MaxDelay},
		// Units.
		{"1ms", time.Millisecond},
		{"90s", 90 * time.Second},
		{"90m", 90 * time.Minute},
		{"2h30m", 150 * time.Minute},
		{"1d", day},
		{"3653d", schedule.MaxDelay},
		{"1d2h3m4s5ms", day + 2*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond},
		{"1.5s", 1500 * time.Millisecond},
		{"1h0.5m", time.Hour + 30*time.Second},
		{"0.25d", 6 * time.Hour},
		// ISO 8601.
		{"PT5M", 5 * time.Minute},
		{"pt5m", 5 * time.Minute},
		{"P1DT2H", 26 * time.Hour},
		{"P1D", day},
		{"P2W", 14 * day},
		{"P1W1DT1H1M1S", 8*day + time.Hour + time.Minute + time.Second},
		{"PT0.5S", 500 * time.Millisecond},
		{"PT0,5S", 500 * time.Millisecond},
		{"PT1.5H", 90 * time.Minute},
		{"PT36H", 36 * time.Hour},
		{"P3653D", schedule.MaxDelay},
		// Never early: rounded up.
		{"0.5ms", time.Millisecond},
		{"1.0000001s", 1001 * time.Millisecond},
		{"1.000000000000000000000000000000001s", 1001 * time.Millisecond},
		{"1.000000000000000000000000000000000s", time.Second},
		// Negative, at once.
		{"-0", 0},
		{"-1", -time.Millisecond},
		{"-5000", -5 * time.Second},
		{"-1h30m", -90 * time.Minute},
		{"-PT5M", -5 * time.Minute},
		{"-9223372036854775808", -schedule.MaxDelay},
		{"-99999999999999999999999999999999d", -schedule.MaxDelay},
		// Blanks around.
		{" 1500", 1500 * time.Millisecond},
		{"\t1m \t", time.Minute},
	}
	for _, row := range rows {
		got, err := schedule.ParseDelay(row.text)
		if err != nil || got != row.want {
			t.Errorf("%q: expected %v; saw %v, %v", row.text, row.want, got, err)
		}
	}
}

func TestDelayErrorsNameValueAndPosition(t *testing.T) {
	rows := []struct{ text, want string }{
		{"", `"" at position 1: expected a number`},
		{"   ", `"   " at position 1: expected a number`},
		{"abc", `"abc" at position 1: expected a number`},
		{"-", `"-" at position 2: expected a number`},
		{"--1", `"--1" at position 2: expected a number`},
		{"10 apples", `"10 apples" at position 3: expected a unit: d, h, m, s or ms`},
		{"10w", `"10w" at position 3: expected a unit: d, h, m, s or ms`},
		{"1.5", `"1.5" at position 4: expected a unit: d, h, m, s or ms`},
		{"1.s", `"1.s" at position 3: expected a digit after the decimal mark`},
		{".5s", `".5s" at position 1: expected a number`},
		{"1,5s", `"1,5s" at position 2: expected a unit: d, h, m, s or ms`},
		{"1.5.2s", `"1.5.2s" at position 4: expected a unit: d, h, m, s or ms`},
		{"1.5h2m", `"1.5h2m" at position 5: only the last number may have a fraction`},
		{"5m30", `"5m30" at position 5: expected a unit: d, h, m, s or ms`},
		{"30s5m", `"30s5m" at position 5: units must come once each, the greatest first`},
		{"1s1s", `"1s1s" at position 4: units must come once each, the greatest first`},
		{"1h m", `"1h m" at position 3: expected a number`},
		{"1e3", `"1e3" at position 2: expected a unit: d, h, m, s or ms`},
		{"0x10", `"0x10" at position 2: expected a unit: d, h, m, s or ms`},
		{"1\x00", `"1\x00" at position 2: expected a unit: d, h, m, s or ms`},
		{"\u0661", `"\u0661" at position 1: expected a number`},
		{"P", `"P" at position 2: expected a number`},
		{"PT", `"PT" at position 3: expected a number`},
		{"P1DT", `"P1DT" at position 5: expected a number`},
		{"P1", `"P1" at position 3: expected a unit of date, W or D, or a T before units of time`},
		{"P5H", `"P5H" at position 3: expected a unit of date, W or D, or a T before units of time`},
		{"PT5", `"PT5" at position 4: expected a unit of time: H, M or S`},
		{"PT5D", `"PT5D" at position 4: expected a unit of time: H, M or S`},
		{"PT1HT1M", `"PT1HT1M" at position 5: a second T`},
		{"PT1S1M", `"PT1S1M" at position 6: units must come once each, the greatest first`},
		{"P1D1D", `"P1D1D" at position 5: units must come once each, the greatest first`},
		{"P1Y", `"P1Y" at position 3: years and months have no fixed length`},
		{"P1M", `"P1M" at position 3: years and months have no fixed length`},
		{"P-1D", `"P-1D" at position 2: expected a number`},
		{"PT1.5H1M", `"PT1.5H1M" at position 7: only the last number may have a fraction`},
		{"315619200001", `"315619200001" at position 1: longer than ten years`},
		{"3653d1ms", `"3653d1ms" at position 1: longer than ten years`},
		{"3653.0000000001d", `"3653.0000000001d" at position 1: longer than ten years`},
		{"P522W", `"P522W" at position 1: longer than ten years`},
		{"9223372036854775807", `"9223372036854775807" at position 1: longer than ten years`},
		{"9223372036854775808", `"9223372036854775808" at position 1: longer than ten years`},
		{"99999999999999999999d", `"99999999999999999999d" at position 1: longer than ten years`},
		{
			strings.Repeat("9", schedule.MaxText+1),
			`"` + strings.Repeat("9", schedule.MaxText) + `"... at position 65: longer than 64 octets`,
		},
	}
	for _, row := range rows {
		got, err := schedule.ParseDelay(row.text)
		var e *schedule.Error
		if !errors.As(err, &e) || e.Text != row.text || err.Error() != row.want {
			t.Errorf("%q: expected %s; saw %v, %v", row.text, row.want, got, err)
		}
	}
}

// delayText is a delay as it may be written, and its exact length in nanoseconds.
func delayText(t *rapid.T) (string, *big.Rat) {
	iso := rapid.Bool().Draw(t, "iso")
	units := []struct {
		text string
		ms   int64
	}{{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}}
	if iso {
		units = units[:4]
	}
	var text strings.Builder
	total := new(big.Rat)
	chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, len(units)-1), 1, len(units), rapid.ID[int]).Draw(t, "units")
	last := 0
	for i := range units {
		for _, c := range chosen {
			if c == i {
				last = i
			}
		}
	}
	inTime := false
	for i, unit := range units {
		has := false
		for _, c := range chosen {
			has = has || c == i
		}
		if !has {
			continue
		}
		number := fmt.Sprint(rapid.Int64Range(0, 100).Draw(t, "n"))
		if i == last && rapid.Bool().Draw(t, "fractional") {
			number += "." + rapid.StringMatching(`[0-9]{1,12}`).Draw(t, "fraction")
		}
		if iso && i > 0 && !inTime {
			text.WriteString("T")
			inTime = true
		}
		text.WriteString(number + unit.text)
		n, _ := new(big.Rat).SetString(number)
		total.Add(total, n.Mul(n, new(big.Rat).SetInt64(unit.ms)))
	}
	if iso {
		return "P" + strings.ToUpper(text.String()), total
	}
	return text.String(), total
}

func TestDelayIsTheExactSumRoundedUpToMilliseconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, exact := delayText(t)
		got, err := schedule.ParseDelay(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		ms := new(big.Rat).SetInt64(got.Milliseconds())
		if got%time.Millisecond != 0 || ms.Cmp(exact) < 0 || ms.Sub(ms, exact).Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("%q: expected %s ms rounded up; saw %v", text, exact.FloatString(6), got)
		}
	})
}

func TestDelayReadsWhatGoWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := time.Duration(rapid.Int64Range(-3652*24*3600*1000, 3652*24*3600*1000).Draw(t, "ms")) * time.Millisecond
		for _, text := range []string{want.String(), fmt.Sprint(want.Milliseconds())} {
			if got, err := schedule.ParseDelay(text); err != nil || got != want {
				t.Fatalf("%q: expected %v; saw %v, %v", text, want, got, err)
			}
		}
	})
}

func FuzzParseDelay(f *testing.F) {
	for _, seed := range []string{"0", "1500", "2h30m", "1.5s", "P1DT2H", "-PT0.000001S", "99999999999999999999d", "P1Y", " 1", "1\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := schedule.ParseDelay(text)
		if err != nil {
			checkError(t, text, err)
			return
		}
		if got < -schedule.MaxDelay || got > schedule.MaxDelay || got%time.Millisecond != 0 {
			t.Fatalf("%q: %v is out of bounds", text, got)
		}
		if std, err := time.ParseDuration(strings.Trim(text, " \t")); err == nil && std.Abs() < schedule.MaxDelay {
			if d := got - std; std > 0 && (d < 0 || d >= time.Millisecond) {
				t.Fatalf("%q: %v; the standard library reads %v", text, got, std)
			}
		}
	})
}

// checkError demands that err names the text and a place in it, in one printable line.
func checkError(t *testing.T, text string, err error) {
	t.Helper()
	var e *schedule.Error
	if !errors.As(err, &e) || e.Text != text || e.Offset < 0 || e.Offset > len(text) || e.Reason == "" {
		t.Fatalf("%q: %#v", text, err)
	}
	for _, c := range []byte(err.Error()) {
		if c < ' ' || c > '~' {
			t.Fatalf("%q: unprintable %q", text, err.Error())
		}
	}
	if len(err.Error()) > 10*schedule.MaxText {
		t.Fatalf("%q: an error of %d octets", text, len(err.Error()))
	}
}
