package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"limnomap/api/answer"
	"limnomap/api/route"
	"limnomap/data"
	"limnomap/data/events/push"
)

// Subscriptions stores who wants notifications.
type Subscriptions interface {
	PutSubscription(ctx context.Context, s push.Subscription) error
	DeleteSubscription(ctx context.Context, id string) error
}

const (
	pathSubscriptions = "/api/v1/push/subscriptions"
	// maxSubscriptionBody is enough for the ids of as many lakes as a subscription may have.
	maxSubscriptionBody = 16 << 10
)

// pushHandlers answer requests to be told of lakes, or no longer.
type pushHandlers struct{ *common }

// A subscriptionRequest is the body of a request to be told: the PushSubscription of a browser as JSON, and what it wants.
type subscriptionRequest struct {
	Endpoint string `json:"endpoint"`
	Keys     struct {
		P256dh string `json:"p256dh"`
		Auth   string `json:"auth"`
	} `json:"keys"`
	Lakes     []data.LakeID `json:"lakes"`
	Threshold string        `json:"threshold"`
	Daily     bool          `json:"daily"`
	Zone      string        `json:"zone"`
}

// subscribe stores a subscription, or changes and renews it.
func (h *pushHandlers) subscribe(w http.ResponseWriter, r *http.Request) error {
	if h.opts.Subscriptions == nil {
		return errNoPush
	}
	if err := checkSameOrigin(r); err != nil {
		return err
	}
	p, err := h.published()
	if err != nil {
		return err
	}
	s, err := readSubscription(r)
	if err != nil {
		return err
	}
	if err := h.opts.PushServices.Check(s.Endpoint); err != nil {
		return badSubscription(err)
	}
	for _, id := range s.Lakes {
		if _, ok := p.snap.Index(id); !ok {
			return badSubscription(fmt.Errorf("lakes: there is no lake %s", id))
		}
	}
	s.RenewedAt = h.opts.Now().UTC().Truncate(time.Second)
	s.Client = h.opts.PushClient(answer.ClientAddr(r))
	err = h.askStore(r, errSubscriptionStore, func(ctx context.Context) error { return h.opts.Subscriptions.PutSubscription(ctx, s) })
	for _, full := range []error{push.ErrManySubscriptions, push.ErrManyOfClient} {
		if errors.Is(err, full) {
			return full
		}
	}
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", answer.TypeJSON)
	w.Header().Set("Cache-Control", answer.CacheNever)
	_, _ = fmt.Fprintf(w, "{\"id\":%q}\n", s.ID) // an error means that the client left
	return nil
}

// unsubscribe deletes a subscription. That there is none is no error: it is what was asked for.
func (h *pushHandlers) unsubscribe(w http.ResponseWriter, r *http.Request) error {
	if h.opts.Subscriptions == nil {
		return errNoPush
	}
	if err := checkSameOrigin(r); err != nil {
		return err
	}
	err := h.askStore(r, errSubscriptionStore, func(ctx context.Context) error {
		err := h.opts.Subscriptions.DeleteSubscription(ctx, route.Values(r)[0])
		if errors.Is(err, push.ErrNoSubscription) {
			err = nil
		}
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", answer.CacheNever)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// bodyBound returns how long the body of a request may be: only one subscribes.
func (s *common) bodyBound(r *http.Request) int64 {
	if r.Method == http.MethodPost && r.URL.Path == s.opts.BasePath+pathSubscriptions {
		return maxSubscriptionBody
	}
	return 0
}

// checkSameOrigin refuses what a page of another origin sends. Browsers say so in Sec-Fetch-Site; a program has no such field.
func checkSameOrigin(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return &answer.Problem{Status: http.StatusForbidden, Detail: "Only the page of this server may do this."}
	}
	return nil
}

func readSubscription(r *http.Request) (s push.Subscription, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return s, &answer.Problem{Status: http.StatusUnsupportedMediaType, Detail: "The body must have the Content-Type application/json."}
	}
	body, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return s, &answer.Problem{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf("The body may have %d bytes at most.", tooLong.Limit), Header: http.Header{"Connection": {"close"}}}
	}
	if err != nil {
		return s, badSubscription(errors.New("the body could not be read"))
	}
	var q subscriptionRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return s, badSubscription(errors.New("the body is not a subscription as JSON: want endpoint, keys, lakes, threshold, daily and zone"))
	}
	s = push.Subscription{Endpoint: q.Endpoint, P256dh: strings.TrimRight(q.Keys.P256dh, "="), Auth: strings.TrimRight(q.Keys.Auth, "="), Lakes: q.Lakes, Daily: q.Daily, Zone: q.Zone}
	if s.Threshold, err = push.ParseThreshold(q.Threshold); err != nil {
		return s, badSubscription(err)
	}
	if err := s.Check(); err != nil {
		return s, badSubscription(err)
	}
	return s, nil
}

// badSubscription is the error for a body that says something wrong.
func badSubscription(err error) error {
	return &answer.Problem{Status: http.StatusBadRequest, Detail: "The subscription is wrong: " + err.Error() + "."}
}
