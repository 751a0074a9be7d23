package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"footfall/broker"
)

// subscriptionPage is the body of /api/v1/subscriptions.
type subscriptionPage struct {
	Items []subscription `json:"items"`
	// Next is the cursor of the next page, empty at the end.
	Next string `json:"next,omitempty"`
}

// subscription is a durable subscription.
type subscription struct {
	// ID is OWNER:NAME, as it is in /dsub/ addresses.
	ID        string     `json:"id"`
	Href      string     `json:"href"`
	Owner     string     `json:"owner"`
	Name      string     `json:"name"`
	Topic     string     `json:"topic"`
	Selector  string     `json:"selector,omitempty"`
	NoLocal   bool       `json:"no_local"`
	User      string     `json:"user"`
	ClientID  string     `json:"client_id"`
	Created   time.Time  `json:"created"`
	Ready     int64      `json:"ready"`
	Unacked   int64      `json:"unacked"`
	Bytes     int64      `json:"bytes"`
	Received  uint64     `json:"received"`
	Delivered uint64     `json:"delivered"`
	Acked     uint64     `json:"acked"`
	Consumers []consumer `json:"consumers"`
}

type consumer struct {
	Subscription string `json:"subscription"`
	Remote       string `json:"remote"`
	User         string `json:"user"`
	ClientID     string `json:"client_id"`
	Unacked      int    `json:"unacked"`
	Delivered    uint64 `json:"delivered"`
}

// subscriptionPrefix begins the path of a durable subscription.
const subscriptionPrefix = "/api/v1/subscriptions/"

// subscription finds the handler of one. The patterns of http.ServeMux cannot, see scheduledID.
func (s *Server) subscription(w http.ResponseWriter, r *http.Request) {
	id, err := url.PathUnescape(strings.TrimPrefix(r.URL.EscapedPath(), subscriptionPrefix))
	name, ok := broker.ParseSubscriptionName(id)
	switch {
	case err != nil || !ok:
		refuse(w, http.StatusNotFound, fmt.Sprintf("there is no durable subscription %.300q: one is OWNER:NAME", id))
	case r.Method == http.MethodGet:
		s.showSubscription(w, r, name)
	case r.Method == http.MethodDelete:
		s.deleteSubscription(w, r, name)
	default:
		w.Header().Set("Allow", "DELETE, GET")
		refuse(w, http.StatusMethodNotAllowed, "this path does not know the method "+r.Method)
	}
}

func (s *Server) listSubscriptions(w http.ResponseWriter, r *http.Request) {
	q, err := durableQuery(r.URL.Query())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	list, next, err := s.opt.Broker.Durables(ctx, q)
	if err != nil {
		refuseSchedule(w, err, "the subscriptions could not be listed in time")
		return
	}
	p := subscriptionPage{Items: make([]subscription, len(list)), Next: next}
	for i := range list {
		p.Items[i] = subscriptionOf(&list[i])
	}
	reply(w, http.StatusOK, p)
}

func (s *Server) showSubscription(w http.ResponseWriter, r *http.Request, name broker.SubscriptionName) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	d, ok, err := s.opt.Broker.Durable(ctx, name)
	switch {
	case err != nil:
		refuseSchedule(w, err, "the subscription could not be looked at in time")
	case !ok:
		refuse(w, http.StatusNotFound, noSubscription(name))
	default:
		reply(w, http.StatusOK, subscriptionOf(&d))
	}
}

// deleteSubscription answers {"deleted": true} when that is on disk, and 409 while it is in use.
func (s *Server) deleteSubscription(w http.ResponseWriter, r *http.Request, name broker.SubscriptionName) {
	force := false
	if text := r.URL.Query().Get("force"); text != "" {
		var err error
		if force, err = strconv.ParseBool(text); err != nil {
			refuse(w, http.StatusBadRequest, "force must be true or false")
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), diskPatience)
	defer cancel()
	deleted, err := s.opt.Broker.DeleteDurable(ctx, name, force)
	var bad *broker.Error
	switch {
	case errors.As(err, &bad) && bad.Kind == broker.KindInUse:
		refuse(w, http.StatusConflict, bad.Message)
	case err != nil:
		refuseSchedule(w, err, "no answer in time: it may have happened or not")
	case !deleted:
		refuse(w, http.StatusNotFound, noSubscription(name))
	default:
		s.opt.Log.Info("a durable subscription was deleted", "subscription", name.String(), "force", force, "remote", r.RemoteAddr)
		reply(w, http.StatusOK, map[string]bool{"deleted": true})
	}
}

func noSubscription(name broker.SubscriptionName) string {
	return fmt.Sprintf("there is no durable subscription %.300q", name.String())
}

func durableQuery(query url.Values) (q broker.DurableQuery, err error) {
	for name, values := range query {
		text := values[0]
		if len(values) > 1 {
			return q, fmt.Errorf("%.40q stands more than once", name)
		}
		switch name {
		case "topic":
			if q.Topic, err = addressOf(text); err == nil && q.Topic.Kind != broker.Topic {
				err = fmt.Errorf("topic must be /topic/NAME, not %.300q", text)
			}
		case "limit":
			q.Limit, err = numberOf(name, text, 1, broker.MaxDurables)
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

func subscriptionOf(d *broker.DurableStats) subscription {
	id := d.Name.String()
	s := subscription{
		ID: id, Href: subscriptionPrefix + url.PathEscape(id), Owner: d.Name.Owner, Name: d.Name.Name, Topic: d.Topic.String(),
		Selector: d.Selector, NoLocal: d.NoLocal, User: d.User, ClientID: d.ClientID, Created: instant(d.Created),
		Ready: d.Ready, Unacked: d.Unacked, Bytes: d.Bytes, Received: d.Received, Delivered: d.Delivered, Acked: d.Acked,
		Consumers: make([]consumer, len(d.Consumers)),
	}
	for i, x := range d.Consumers {
		s.Consumers[i] = consumer{x.ID, x.Client.Remote, x.Client.User, x.Client.ClientID, x.Unacked, x.Delivered}
	}
	return s
}
