package server

import (
	"math"
	"strconv"
	"strings"

	"footfall/frames"
)

// parseBool reads a boolean: true, false, 1 or 0, in any case.
func parseBool(text string) (value, ok bool) {
	switch {
	case text == "1" || strings.EqualFold(text, "true"):
		return true, true
	case text == "0" || strings.EqualFold(text, "false"):
		return false, true
	}
	return false, false
}

// boolHeader reads a header that is a boolean, false when it is missing or empty.
func boolHeader(f *frames.Frame, name string) (bool, error) {
	raw, ok := f.Header.GetRaw(name)
	if !ok || len(raw) == 0 {
		return false, nil
	}
	value, ok := parseBool(f.Header.Decode(raw))
	if !ok {
		return false, badBool(f.Command, name, f.Header.Decode(raw))
	}
	return value, nil
}

func badBool(c frames.Command, name, value string) error {
	return badHeader(c, name, value, "true, false, 1 or 0 is wanted")
}

// parseCount reads a number of digits only. What is larger than an int32 counts as the largest.
func parseCount(text string) (int, bool) {
	if text == "" {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return math.MaxInt32, true
	}
	return int(n), true
}

// parsePriority reads a priority; beyond 0 to 9 the nearest of these counts.
func parsePriority(text string) (uint8, bool) {
	digits := strings.TrimPrefix(text, "-")
	n, ok := parseCount(digits)
	switch {
	case !ok:
		return 0, false
	case len(digits) < len(text):
		return 0, true
	}
	return uint8(min(n, 9)), true
}
