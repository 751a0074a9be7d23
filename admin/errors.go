package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"footfall/broker"
	"footfall/frames"
)

// failure is the body of every answer that is none: Error says what is wrong, Code which kind of that it is, and Field which parameter
// of the query or field of the document, where it is one.
type failure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
	Field string `json:"field,omitempty"`
}

// unsure is the answer to a change that took too long.
const unsure = "no answer in time: it may have happened or not"

// codeOf is the code that goes with a status.
func codeOf(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "bad_request"
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusMethodNotAllowed:
		return "method_not_allowed"
	case http.StatusConflict:
		return "in_use"
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnsupportedMediaType:
		return "unsupported_media_type"
	case http.StatusTooManyRequests:
		return "too_many_requests"
	case http.StatusServiceUnavailable:
		return "unavailable"
	}
	return "internal"
}

// refuse writes an error as JSON.
func refuse(w http.ResponseWriter, status int, text string) {
	reply(w, status, failure{Error: text, Code: codeOf(status)})
}

// fieldError is something that is wrong with one parameter or field.
type fieldError struct{ field, text string }

// Error names the field.
func (e *fieldError) Error() string { return e.field + " " + e.text }

func wrong(field, text string) error { return &fieldError{field, text} }

// refuseError tells why there is no answer; late is said when the time was over.
func refuseError(w http.ResponseWriter, err error, late string) {
	var field *fieldError
	var bad *broker.Error
	switch {
	case errors.As(err, &field):
		reply(w, http.StatusBadRequest, failure{field.Error(), codeOf(http.StatusBadRequest), field.field})
	case errors.As(err, &bad) && bad.Kind == broker.KindDestination:
		refuse(w, http.StatusNotFound, bad.Message)
	case errors.As(err, &bad) && bad.Kind == broker.KindInUse:
		refuse(w, http.StatusConflict, bad.Message)
	case errors.As(err, &bad) && bad.Kind == broker.KindSelector:
		reply(w, http.StatusBadRequest, failure{bad.Message, codeOf(http.StatusBadRequest), "selector"})
	default:
		refuseSchedule(w, err, late)
	}
}

// readQuery gives each parameter of a query to who reads it. One that nobody knows is an error, and one that stands twice.
func readQuery(query url.Values, readers map[string]func(string) error) error {
	for name, values := range query {
		read := readers[name]
		switch {
		case read == nil:
			return wrong(fmt.Sprintf("%.40q", name), "is no parameter of this path")
		case len(values) > 1:
			return wrong(name, "stands more than once")
		}
		if err := read(values[0]); err != nil {
			return err
		}
	}
	return nil
}

func textInto(into *string) func(string) error {
	return func(text string) error { *into = text; return nil }
}

func numberInto(name string, into *int, low, high int) func(string) error {
	return func(text string) error {
		n, err := numberOf(name, text, low, high)
		if err != nil {
			return wrong(name, fmt.Sprintf("must be one number from %d to %d", low, high))
		}
		*into = n
		return nil
	}
}

// destinationInto reads a queue or a topic.
func destinationInto(into **broker.Address) func(string) error {
	return func(text string) (err error) {
		if *into, err = addressOf(text); err != nil {
			return wrong("destination", "must be /queue/NAME or /topic/NAME")
		}
		return nil
	}
}

// sourceInto reads what messages are in: a queue or a durable subscription.
func sourceInto(into **broker.Address) func(string) error {
	return func(text string) error {
		if name, ok := strings.CutPrefix(text, "/dsub/"); ok && name != "" {
			*into = &broker.Address{Kind: broker.Durable, Name: name}
			return nil
		}
		a, err := addressOf(text)
		if err != nil || a.Kind != broker.Queue {
			return wrong("from", "must be /queue/NAME, or /dsub/OWNER:NAME for a durable subscription")
		}
		*into = a
		return nil
	}
}

// sourceOrTopicInto reads what consumers may take from.
func sourceOrTopicInto(into **broker.Address) func(string) error {
	return func(text string) error {
		if strings.HasPrefix(text, "/dsub/") {
			return sourceInto(into)(text)
		}
		return destinationInto(into)(text)
	}
}

func headersOf(h frames.Header) []header {
	list := []header{}
	for name, value, pos := h.Next(0); pos >= 0; name, value, pos = h.Next(pos) {
		list = append(list, header{h.Decode(name), h.Decode(value)})
	}
	return list
}
