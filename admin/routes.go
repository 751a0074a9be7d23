package admin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"
)

// route is an operation of the API: what answers it, and what the OpenAPI document says of it.
type route struct {
	method, path string // of {id} in it a prefix handler takes care
	about        string
	query        []parameter
	body         any // of the type of its document, nil for none
	answer       any // of the type of the answer
	statuses     []int
	patience     time.Duration // 0: the handler sees to it itself
	handle       http.HandlerFunc
}

// parameter is one of a query, or of the path.
type parameter struct{ name, about string }

// itemsOf is an answer that is a list without pages.
type itemsOf[T any] struct {
	Items []T `json:"items"`
}

// Sets of the statuses of errors. 503 is always possible, and where users are known 401, 403 and 429 are.
func asked() []int { return []int{http.StatusBadRequest} }
func found() []int { return []int{http.StatusBadRequest, http.StatusNotFound} }

func posted(more ...int) []int {
	return append([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, more...)
}

func pages(more ...parameter) []parameter {
	return append(more, parameter{"limit", "how many at most, up to 1000"}, parameter{"cursor", "next of the page before"})
}

// routes are all operations of the API.
func (s *Server) routes() []route {
	const missing, used = http.StatusNotFound, http.StatusConflict
	id := []parameter{{"id", "its id"}}
	return slices.Concat([]route{
		{method: "GET", path: "/api/v1/overview", about: "What the broker holds and did.", answer: overview{}, handle: s.overview},
		{method: "GET", path: "/api/v1/openapi.json", about: "This document.", answer: map[string]any{}, handle: s.openapi},
		{method: "POST", path: "/api/v1/reload", about: "Reads the list of destinations in the settings again.", answer: Reloaded{}, statuses: found(), handle: s.reload},
	}, s.destinationRoutes(missing, used), s.messageRoutes(missing), []route{
		{method: "GET", path: "/api/v1/connections", about: "Lists connections in the order in which they came.", query: pages(), answer: connectionPage{}, statuses: asked(), patience: patience, handle: s.listConnections},
		{method: "GET", path: "/api/v1/connections/show", about: "Shows one connection.", query: id, answer: connection{}, statuses: found(), patience: patience, handle: s.showConnection},
		{method: "POST", path: "/api/v1/connections/close", about: "Ends a connection with an ERROR that gives the reason.", body: connectionClose{}, answer: connection{}, statuses: posted(missing), patience: diskPatience, handle: s.closeConnection},
		{
			method: "GET", path: "/api/v1/consumers", about: "Lists consumers and browsers in the order of their connections.",
			query: pages(parameter{"destination", "of this destination only"}), answer: consumerPage{}, statuses: asked(), patience: patience, handle: s.listConsumers,
		},
		{
			method: "GET", path: "/api/v1/subscriptions", about: "Lists durable subscriptions in the order of their names.",
			query: pages(parameter{"topic", "of this topic only"}), answer: subscriptionPage{}, statuses: asked(), handle: s.listSubscriptions,
		},
		{method: "GET", path: subscriptionPrefix + "{id}", about: "Shows a durable subscription.", answer: subscription{}, statuses: []int{missing}},
		{
			method: "DELETE", path: subscriptionPrefix + "{id}", about: "Deletes a durable subscription with all that it keeps.",
			query: []parameter{{"force", "also where it has consumers, whose connections end"}}, answer: map[string]bool{}, statuses: []int{http.StatusBadRequest, missing, used},
		},
	}, s.scheduleRoutes(missing), s.deadRoutes(missing))
}

func (s *Server) destinationRoutes(missing, used int) []route {
	return []route{
		{
			method: "GET", path: "/api/v1/destinations", about: "Lists queues, topics and durable subscriptions, the most active first.",
			query: []parameter{
				{"kind", "queue, topic or dsub"},
				{"name", "those with this text in their name"},
				{"sort", "activity, name, ready, unacked, bytes or consumers"},
				{"offset", "how many to pass over"},
				{"limit", "how many at most, up to 1000"},
			},
			answer: page{}, statuses: asked(), patience: patience, handle: s.destinations,
		},
		{
			method: "GET", path: "/api/v1/destinations/show", about: "Shows a queue or a topic, and the settings that count for it.",
			query: []parameter{{"destination", "/queue/NAME or /topic/NAME"}}, answer: destinationDetail{}, statuses: found(), patience: patience, handle: s.showDestination,
		},
		{method: "POST", path: "/api/v1/destinations/make", about: "Makes a queue or a topic.", body: destinationChange{}, answer: destinationMade{}, statuses: posted(), patience: diskPatience, handle: s.makeDestination},
		{method: "POST", path: "/api/v1/destinations/delete", about: "Deletes a queue or a topic with all that it has.", body: destinationChange{}, answer: destinationDeleted{}, statuses: posted(missing, used), patience: diskPatience, handle: s.deleteDestination},
		{method: "POST", path: "/api/v1/destinations/pause", about: "Puts a stop to production or consumption.", body: destinationChange{}, answer: destinationPaused{}, statuses: posted(missing), patience: diskPatience, handle: s.pauseDestination},
		{method: "POST", path: "/api/v1/destinations/resume", about: "Lets it go on.", body: destinationChange{}, answer: destinationPaused{}, statuses: posted(missing), patience: diskPatience, handle: s.resumeDestination},
	}
}

func (s *Server) messageRoutes(missing int) []route {
	change := func(action, about string, handle http.HandlerFunc) route {
		return route{method: "POST", path: "/api/v1/messages/" + action, about: about, body: messageChange{}, answer: deadChanged{}, statuses: posted(missing), patience: diskPatience, handle: s.onSchedule(diskPatience, handle)}
	}
	return []route{
		{
			method: "GET", path: "/api/v1/messages", about: "Lists messages of a queue or a durable subscription in the order of delivery.",
			query: pages(parameter{"from", "/queue/NAME, or /dsub/OWNER:NAME"}, parameter{"id", "this one only"}, parameter{"selector", "those that it wants"},
				parameter{"body", "octets of each body to show, up to 65536"}),
			answer: messagePage{}, statuses: found(), handle: s.onSchedule(patience, s.listMessages),
		},
		change("move", "Moves a page of messages to another destination.", s.moveMessages),
		change("copy", "Copies a page of messages to another destination.", s.copyMessages),
		change("delete", "Deletes a page of messages.", s.deleteMessages),
	}
}

func (s *Server) scheduleRoutes(missing int) []route {
	return []route{
		{
			method: "GET", path: "/api/v1/scheduled", about: "Lists what waits for its time.",
			query: pages(parameter{"destination", "of this destination only"}, parameter{"id", "of this id only"}, parameter{"from", "due from then on"}, parameter{"until", "due up to then"},
				parameter{"body", "octets of each body to show, up to 65536"}),
			answer: scheduledPage{}, statuses: asked(), handle: s.onSchedule(patience, s.listScheduled),
		},
		{method: "GET", path: "/api/v1/scheduled/counts", about: "Counts what waits by when it is due.", answer: scheduledCounts{}, statuses: nil, handle: s.onSchedule(patience, s.countScheduled)},
		{method: "GET", path: scheduledPrefix + "{id}", about: "Shows what waits under an id.", answer: scheduledPage{}, statuses: found()},
		{method: "DELETE", path: scheduledPrefix + "{id}", about: "Takes it back.", answer: changed{}, statuses: []int{missing}},
		{method: "PATCH", path: scheduledPrefix + "{id}", about: "Has it be due at another time.", body: rescheduling{}, answer: changed{}, statuses: posted(missing)},
		{method: "POST", path: scheduledPrefix + "{id}/run", about: "Has it take its place now.", answer: changed{}, statuses: []int{missing}},
	}
}

func (s *Server) deadRoutes(missing int) []route {
	return []route{
		{method: "GET", path: "/api/v1/dlq", about: "Lists the queues that dead letters go to.", answer: itemsOf[deadQueue]{}, handle: s.onSchedule(patience, s.listDeadQueues)},
		{
			method: "GET", path: "/api/v1/dlq/messages", about: "Lists dead letters in such a queue.",
			query: pages(parameter{"queue", "its name"}, parameter{"id", "this one only"}, parameter{"origin", "those that died there"}, parameter{"reason", "those that died of it"},
				parameter{"selector", "those that it wants"}, parameter{"body", "octets of each body to show, up to 65536"}),
			answer: deadPage{}, statuses: found(), handle: s.onSchedule(patience, s.listDead),
		},
		{method: "POST", path: "/api/v1/dlq/retry", about: "Sends a page of dead letters back.", body: deadChange{}, answer: deadChanged{}, statuses: posted(missing), handle: s.onSchedule(diskPatience, s.retryDead)},
		{method: "POST", path: "/api/v1/dlq/purge", about: "Deletes a page of dead letters.", body: deadChange{}, answer: deadChanged{}, statuses: posted(missing), handle: s.onSchedule(diskPatience, s.purgeDead)},
	}
}

// serveAPI gives the mux what answers the API.
func (s *Server) serveAPI(mux *http.ServeMux) {
	for _, r := range s.routes() {
		if r.handle != nil {
			mux.HandleFunc(r.method+" "+r.path, r.limited())
		}
	}
	mux.HandleFunc(scheduledPrefix, s.scheduledID)
	mux.HandleFunc(subscriptionPrefix, s.subscription)
	mux.HandleFunc(nothingThere, s.nothing)
}

// nothingThere is the pattern of all paths of the API that are no route, or not with that method.
const nothingThere = "/api/"

// limited is its handler, which has so long.
func (r *route) limited() http.HandlerFunc {
	if r.patience == 0 {
		return r.handle
	}
	handle, patience := r.handle, r.patience
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		handle(w, r.WithContext(ctx))
	}
}

// nothing answers where there is no route, or one of another method only.
func (s *Server) nothing(w http.ResponseWriter, r *http.Request) {
	var methods []string
	for _, known := range s.routes() {
		if known.path == r.URL.Path {
			methods = append(methods, known.method)
		}
	}
	if len(methods) == 0 {
		refuse(w, http.StatusNotFound, "there is nothing at this path")
		return
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	refuse(w, http.StatusMethodNotAllowed, "this path does not know the method "+r.Method)
}
