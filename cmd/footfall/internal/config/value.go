package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is a unit of size.
type unit struct {
	name   string
	octets int64
}

// sizeUnits are the units that sizes are read in; those that they are written in come
// first, the greatest first.
func sizeUnits() []unit {
	return []unit{
		{"TiB", 1 << 40},
		{"GiB", 1 << 30},
		{"MiB", 1 << 20},
		{"KiB", 1 << 10},
		{"TB", 1e12},
		{"GB", 1e9},
		{"MB", 1e6},
		{"kB", 1e3},
		{"B", 1},
	}
}

// ParseSize reads a size in octets as settings have it: digits and, but for zero, a unit.
func ParseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "BGKMTik")
	suffix := text[len(number):]
	n, err := parseNumber(strings.TrimSuffix(number, " "))
	if err != nil {
		return 0, errors.New("must be a size as in 64KiB, with a unit of B, KiB, MiB, GiB, TiB, kB, MB, GB or TB")
	}
	if suffix == "" && n == 0 {
		return 0, nil
	}
	for _, u := range sizeUnits() {
		if u.name != suffix {
			continue
		}
		if n > math.MaxInt64/u.octets {
			return 0, errors.New("too large")
		}
		return n * u.octets, nil
	}
	if suffix == "" {
		return 0, fmt.Errorf("needs a unit: %dB, %dKiB, %dMiB", n, n, n)
	}
	return 0, fmt.Errorf("has no unit %q: units are B, KiB, MiB, GiB, TiB, kB, MB, GB and TB", suffix)
}

func formatSize(n int64) string {
	if n == 0 {
		return "0"
	}
	for _, u := range sizeUnits()[:4] {
		if n%u.octets == 0 {
			return strconv.FormatInt(n/u.octets, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

// parseNumber reads digits as people write them: no sign, no leading zero, no blanks.
func parseNumber(text string) (int64, error) {
	if text == "" || len(text) > 1 && text[0] == '0' || strings.Trim(text, "0123456789") != "" {
		return 0, errors.New("must be a whole number, in digits")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errors.New("too large")
	}
	return n, nil
}

func formatNumber(n int64) string { return strconv.FormatInt(n, 10) }

func parseDuration(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("must be a duration as in 500ms, 30s or 1h30m")
	}
	return int64(d), nil
}

// formatDuration writes a duration without units that are zero: 30m, not 30m0s.
func formatDuration(n int64) string {
	text := time.Duration(n).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// parseTenths reads a number with at most one decimal.
func parseTenths(text string) (int64, error) {
	whole, tenth, _ := strings.Cut(text, ".")
	n, err := parseNumber(whole)
	if err != nil || len(tenth) > 1 || strings.HasSuffix(text, ".") || n > math.MaxInt64/10-1 {
		return 0, errors.New("must be a number with at most one decimal, as in 2.5")
	}
	n *= 10
	if tenth != "" {
		t, err := parseNumber(tenth)
		if err != nil {
			return 0, errors.New("must be a number with at most one decimal, as in 2.5")
		}
		n += t
	}
	return n, nil
}

func formatTenths(n int64) string {
	return fmt.Sprintf("%d.%d", n/10, n%10)
}
