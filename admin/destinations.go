package admin

import (
	"net/http"
	"net/url"
	"strings"

	"footfall/broker"
)

// destinationDetail is the body of /api/v1/destinations/show.
type destinationDetail struct {
	destination
	// Paused are production, consumption, or both.
	Paused   []string `json:"paused"`
	Browsers int      `json:"browsers"`
	Durables int      `json:"durable_subscriptions"`
	// Kept says that it is there after a restart.
	Kept   bool          `json:"kept"`
	Policy []PolicyValue `json:"policy"`
}

// PolicyValue is a setting of a destination, as it counts.
type PolicyValue struct {
	// Setting is the name, Value what counts, Match the pattern of the list of destinations that says so, empty for a default.
	Setting string `json:"setting"`
	Value   string `json:"value"`
	Match   string `json:"match,omitempty"`
}

// destinationChange is the document of what is done to one destination.
type destinationChange struct {
	Destination string `json:"destination"`
	// IfUnused and IfEmpty are of a deletion, Paused of a pause and its end.
	IfUnused bool     `json:"if_unused,omitempty"`
	IfEmpty  bool     `json:"if_empty,omitempty"`
	Paused   []string `json:"paused,omitempty"`
}

// The answers to changes. What they tell is on disk.
type (
	destinationMade struct {
		Destination string `json:"destination"`
		Made        bool   `json:"made"`
	}
	destinationDeleted struct {
		Destination string `json:"destination"`
		Messages    int64  `json:"messages"`
		Consumers   int    `json:"consumers"`
		Durables    int    `json:"durable_subscriptions"`
	}
	destinationPaused struct {
		Destination string   `json:"destination"`
		Paused      []string `json:"paused"`
	}
)

func (s *Server) showDestination(w http.ResponseWriter, r *http.Request) {
	var to *broker.Address
	err := readQuery(r.URL.Query(), map[string]func(string) error{"destination": destinationInto(&to)})
	if err == nil && to == nil {
		err = wrong("destination", "is missing")
	}
	if err != nil {
		refuseError(w, err, "")
		return
	}
	d, err := s.opt.Broker.LookAt(r.Context(), *to)
	if err != nil {
		refuseError(w, err, "the destination could not be looked at in time")
		return
	}
	out := destinationDetail{destination: destinationOf(d.DestinationStats), Paused: pausedOf(d.Paused), Browsers: d.Browsers, Durables: d.Durables, Kept: d.Kept, Policy: []PolicyValue{}}
	if s.opt.Explain != nil {
		if out.Policy, err = s.opt.Explain(*to); err != nil {
			refuseError(w, err, "the settings cannot be read: "+err.Error())
			return
		}
	}
	reply(w, http.StatusOK, out)
}

func (s *Server) makeDestination(w http.ResponseWriter, r *http.Request) {
	_, to, ok := s.readChange(w, r, "make")
	if !ok {
		return
	}
	made, err := s.opt.Broker.CreateDestination(r.Context(), to)
	if err != nil {
		refuseError(w, err, unsure)
		return
	}
	if made {
		s.opt.Log.Info("a destination was made", "destination", to.String(), "remote", r.RemoteAddr)
	}
	reply(w, http.StatusOK, destinationMade{to.String(), made})
}

func (s *Server) deleteDestination(w http.ResponseWriter, r *http.Request) {
	c, to, ok := s.readChange(w, r, "delete")
	if !ok {
		return
	}
	gone, err := s.opt.Broker.DeleteDestination(r.Context(), to, broker.Deletion{Unused: c.IfUnused, Empty: c.IfEmpty})
	if err != nil {
		refuseError(w, err, unsure)
		return
	}
	s.opt.Log.Info("a destination was deleted", "destination", to.String(), "messages", gone.Messages, "consumers", gone.Consumers, "durables", gone.Durables, "remote", r.RemoteAddr)
	reply(w, http.StatusOK, destinationDeleted{to.String(), gone.Messages, gone.Consumers, gone.Durables})
}

func (s *Server) pauseDestination(w http.ResponseWriter, r *http.Request) {
	s.setPaused(w, r, "pause", func(p broker.Pause) (broker.Pause, broker.Pause) { return p, 0 })
}

func (s *Server) resumeDestination(w http.ResponseWriter, r *http.Request) {
	s.setPaused(w, r, "resume", func(p broker.Pause) (broker.Pause, broker.Pause) { return 0, p })
}

func (s *Server) setPaused(w http.ResponseWriter, r *http.Request, action string, change func(broker.Pause) (set, clear broker.Pause)) {
	c, to, ok := s.readChange(w, r, action)
	if !ok {
		return
	}
	what, err := broker.ParsePause(strings.Join(c.Paused, ","))
	if err != nil {
		refuseError(w, wrong("paused", err.Error()), "")
		return
	}
	set, clear := change(what)
	now, err := s.opt.Broker.PauseDestination(r.Context(), to, set, clear)
	if err != nil {
		refuseError(w, err, unsure)
		return
	}
	s.opt.Log.Info("a destination was "+action+"d", "destination", to.String(), "paused", now.String(), "remote", r.RemoteAddr)
	reply(w, http.StatusOK, destinationPaused{to.String(), pausedOf(now)})
}

func pausedOf(p broker.Pause) []string {
	if p == 0 {
		return []string{}
	}
	return strings.Split(p.String(), ",")
}

// readChange reads the document of a change, which has no fields but those of that action.
func (s *Server) readChange(w http.ResponseWriter, r *http.Request, action string) (c destinationChange, to broker.Address, ok bool) {
	if status, err := readDocument(w, r, &c); err != nil {
		refuse(w, status, err.Error())
		return c, to, false
	}
	pauses := action == "pause" || action == "resume"
	a, err := addressOf(c.Destination)
	switch {
	case err != nil:
		err = wrong("destination", "must be /queue/NAME or /topic/NAME")
	case action != "delete" && (c.IfUnused || c.IfEmpty):
		err = wrong("if_unused", "and if_empty are of deletions")
	case pauses != (len(c.Paused) > 0):
		err = wrong("paused", "names production, consumption or all, where something is paused or resumed")
	}
	if err != nil {
		refuseError(w, err, "")
		return c, to, false
	}
	return c, *a, true
}

// destinationsQuery reads what a list of destinations is asked for.
func destinationsQuery(query url.Values) (q broker.DestinationQuery, err error) {
	err = readQuery(query, map[string]func(string) error{
		"offset": numberInto("offset", &q.Offset, 0, int(^uint32(0)>>1)),
		"limit":  numberInto("limit", &q.Limit, 1, maxPage),
		"kind": func(text string) error {
			for _, k := range []broker.Kind{broker.Queue, broker.Topic, broker.Durable} {
				if k.String() == text {
					q.Kind = k
					return nil
				}
			}
			return wrong("kind", "must be queue, topic or dsub")
		},
		"name": func(text string) error { q.Name = text; return nil },
		"sort": func(text string) error {
			q.Sort = text
			return q.CheckSort()
		},
	})
	if q.Limit == 0 {
		q.Limit = defaultPage
	}
	return q, err
}
