package admin

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"footfall/broker"
	"footfall/schedule"
)

// maxScheduleRequests bounds the requests to the schedule under way at a time, each of which reads the store.
const maxScheduleRequests = 4

// defaultBody is how many octets of a body are shown of one id.
const defaultBody = 4096

// scheduledPage is the body of /api/v1/scheduled.
type scheduledPage struct {
	Items []scheduled `json:"items"`
	// Next is the cursor of the next page, empty at the end. A page may have no items and still a next one.
	Next string `json:"next,omitempty"`
}

// scheduled is something that waits for its time.
type scheduled struct {
	ID string `json:"id"`
	// Href is the path of the id, also where that is no text.
	Href        string     `json:"href"`
	Destination string     `json:"destination"`
	DeliverAt   time.Time  `json:"deliver_at"`
	Repeat      *repeat    `json:"repeat,omitempty"`
	Persistent  bool       `json:"persistent"`
	Priority    uint8      `json:"priority"`
	Sent        time.Time  `json:"sent"`
	Expires     *time.Time `json:"expires,omitempty"`
	TTL         int64      `json:"ttl_ms,omitempty"`
	Headers     []header   `json:"headers"`
	BodyBytes   int64      `json:"body_bytes"`
	// Body is the beginning of a body that is text, Base64 of one that is not.
	Body   *string `json:"body,omitempty"`
	Base64 []byte  `json:"body_base64,omitempty"`
}

// repeat is how a repeating job goes on.
type repeat struct {
	Cron   string `json:"cron,omitempty"`
	Zone   string `json:"zone,omitempty"`
	Delay  int64  `json:"delay_ms,omitempty"`
	Period int64  `json:"period_ms,omitempty"`
	Count  int64  `json:"count"`
	// Left counts the deliveries to come, -1 for no end.
	Left int64       `json:"left"`
	Next []time.Time `json:"next"`
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// scheduledPrefix begins the path of an id.
const scheduledPrefix = "/api/v1/scheduled/"

// scheduledID finds the handler of an id. The patterns of http.ServeMux cannot: to them the segment "%2F" is the end of the path.
func (s *Server) scheduledID(w http.ResponseWriter, r *http.Request) {
	segment, action, _ := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), scheduledPrefix), "/")
	id, err := url.PathUnescape(segment)
	var handlers map[string]http.HandlerFunc
	switch action {
	case "":
		handlers = map[string]http.HandlerFunc{
			http.MethodGet:    s.onSchedule(patience, s.showScheduled),
			http.MethodDelete: s.onSchedule(diskPatience, s.cancelScheduled),
			http.MethodPatch:  s.onSchedule(diskPatience, s.reschedule),
		}
	case "run":
		handlers = map[string]http.HandlerFunc{http.MethodPost: s.onSchedule(diskPatience, s.runScheduled)}
	}
	switch handler := handlers[r.Method]; {
	case err != nil || id == "" || handlers == nil:
		refuse(w, http.StatusNotFound, "there is nothing at this path")
	case handler == nil:
		w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(handlers)), ", "))
		refuse(w, http.StatusMethodNotAllowed, "this path does not know the method "+r.Method)
	default:
		r.SetPathValue("id", id)
		handler(w, r)
	}
}

// onSchedule makes f a handler, which has so long and is one of a few at a time.
func (s *Server) onSchedule(patience time.Duration, f func(w http.ResponseWriter, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		select {
		case s.schedule <- struct{}{}:
		case <-ctx.Done():
			refuse(w, http.StatusServiceUnavailable, "too many requests to the schedule are under way")
			return
		}
		defer func() { <-s.schedule }()
		f(w, r.WithContext(ctx))
	}
}

func (s *Server) listScheduled(w http.ResponseWriter, r *http.Request) {
	q, err := scheduledQuery(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if p, ok := s.page(w, r, q); ok {
		reply(w, http.StatusOK, p)
	}
}

func (s *Server) showScheduled(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if query.Has("id") {
		refuse(w, http.StatusBadRequest, "the id is in the path already")
		return
	}
	q, err := scheduledQuery(query)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	q.ID = r.PathValue("id")
	if !query.Has("body") {
		q.BodyBytes = defaultBody
	}
	p, ok := s.page(w, r, q)
	switch {
	case !ok:
	case len(p.Items) == 0:
		refuse(w, http.StatusNotFound, nothingWaits(q.ID))
	default:
		reply(w, http.StatusOK, p)
	}
}

// page asks the broker. When it does not answer the client is told, and ok is false.
func (s *Server) page(w http.ResponseWriter, r *http.Request, q broker.ScheduledQuery) (p scheduledPage, ok bool) {
	list, next, err := s.opt.Broker.Scheduled(r.Context(), q)
	if err != nil {
		refuseSchedule(w, err, "the schedule could not be read in time")
		return p, false
	}
	p = scheduledPage{Items: make([]scheduled, len(list)), Next: next}
	for i := range list {
		p.Items[i] = scheduledOf(&list[i])
	}
	return p, true
}

// refuseSchedule tells why there is no answer: a bad request, or a broker that has not answered.
func refuseSchedule(w http.ResponseWriter, err error, late string) {
	var bad *broker.Error
	switch {
	case errors.As(err, &bad):
		refuse(w, http.StatusBadRequest, bad.Message)
	case errors.Is(err, broker.ErrClosed):
		refuse(w, http.StatusServiceUnavailable, "the broker is closed")
	default:
		refuse(w, http.StatusServiceUnavailable, late)
	}
}

func nothingWaits(id string) string {
	return fmt.Sprintf("nothing waits for its time under the id %.300q", id)
}

func scheduledOf(m *broker.ScheduledMessage) scheduled {
	s := scheduled{
		ID: m.ID, Href: hrefOf(m.ID), Destination: m.Destination.String(), DeliverAt: instant(m.Due), Persistent: m.Persistent, Priority: m.Priority,
		Sent: instant(m.Sent), TTL: m.TTL, Headers: []header{}, BodyBytes: m.BodySize,
	}
	if m.Expires != 0 {
		at := instant(m.Expires)
		s.Expires = &at
	}
	for name, value, pos := m.Header.Next(0); pos >= 0; name, value, pos = m.Header.Next(pos) {
		s.Headers = append(s.Headers, header{m.Header.Decode(name), m.Header.Decode(value)})
	}
	if text, ok := textOf(m.Body, m.BodySize); ok {
		if m.Body != nil {
			s.Body = &text
		}
	} else {
		s.Base64 = m.Body
	}
	if m.Repeat != nil {
		s.Repeat = repeatOf(m.Repeat)
	}
	return s
}

// hrefOf is the path of an id. What looks like a step in the path is written so that it is none.
func hrefOf(id string) string {
	escaped := url.PathEscape(id)
	if strings.Trim(id, ".") == "" {
		escaped = strings.ReplaceAll(id, ".", "%2E")
	}
	return scheduledPrefix + escaped
}

// textOf returns a body that is text; where it is the beginning only, without a last character that is cut.
func textOf(body []byte, size int64) (string, bool) {
	if int64(len(body)) < size {
		for cut := 1; cut < utf8.UTFMax && cut <= len(body); cut++ {
			if r, n := utf8.DecodeRune(body[len(body)-cut:]); r == utf8.RuneError && n == 1 && !utf8.FullRune(body[len(body)-cut:]) {
				body = body[:len(body)-cut]
				break
			}
		}
	}
	return string(body), utf8.Valid(body)
}

func repeatOf(m *broker.ScheduledRepeat) *repeat {
	r := &repeat{Delay: m.Delay, Period: m.Period, Count: m.Count, Left: m.Left, Next: make([]time.Time, len(m.Next))}
	if m.Cron != nil {
		r.Cron, r.Zone = m.Cron.String(), "UTC"
		if m.Zone != nil {
			r.Zone = m.Zone.String()
		}
	}
	for i, at := range m.Next {
		r.Next[i] = instant(at)
	}
	return r
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// scheduledQuery reads what a list is asked for; anything else in it is an error.
func scheduledQuery(query url.Values) (q broker.ScheduledQuery, err error) {
	for name, values := range query {
		text := values[0]
		if len(values) > 1 {
			return q, fmt.Errorf("%.40q stands more than once", name)
		}
		switch name {
		case "destination":
			q.Destination, err = addressOf(text)
		case "id":
			if q.ID = text; text == "" {
				err = errors.New("id must not be empty")
			}
		case "from":
			q.From, err = bound(name, text)
		case "until":
			q.Until, err = bound(name, text)
		case "limit":
			q.Limit, err = numberOf(name, text, 1, broker.MaxScheduled)
		case "body":
			q.BodyBytes, err = numberOf(name, text, 0, broker.MaxScheduledBody)
		case "cursor":
			q.After = text
		default:
			err = fmt.Errorf("no such parameter: %.40q", name)
		}
		if err != nil {
			return q, err
		}
	}
	return q, nil
}

// addressOf reads a destination in its usual form.
func addressOf(text string) (*broker.Address, error) {
	for _, kind := range []broker.Kind{broker.Queue, broker.Topic} {
		if name, ok := strings.CutPrefix(text, "/"+kind.String()+"/"); ok && name != "" {
			return &broker.Address{Kind: kind, Name: name}, nil
		}
	}
	return nil, fmt.Errorf("destination must be /queue/NAME or /topic/NAME, not %.300q", text)
}

// bound reads a time that is not 0, which would be none.
func bound(name, text string) (int64, error) {
	at, err := schedule.ParseInstant(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return max(at, 1), nil
}

func numberOf(name, text string, low, high int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s must be one number from %d to %d", name, low, high)
	}
	return n, nil
}
