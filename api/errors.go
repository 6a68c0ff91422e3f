package api

import (
	"context"
	"errors"
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/desk"
	"limnomap/api/features"
	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/snapshot"
	"limnomap/tiles"
)

// The errors of handlers that clients see as they are.
var (
	errNotFound    = absent("Nothing has this address; openapi.json lists what there is.")
	errNoAdvisory  = absent("No official statement has this id.")
	errNoRegion    = absent("No lake is in a region of this name.")
	errLargeRegion = absent("The region has more lakes than one answer goes through. /api/v1/bathing-lakes/stats counts them by class.")
	errNoCount     = absent("No sample with a cell count is current, and the standard has no document without a sample.")
	errNoPublisher = absent("The public address of this server (--public-url) has no domain name, which each record must have.")
	errNoOrigin    = absent("A sitemap has full addresses, and this server does not know its own: --public-url sets it.")
	errNoPush      = absent("This server sends no notifications.")
	errStreams     = unavailable("60", "Too many streams of events are open; ask "+pathEvents+" from time to time instead.")
	errNoSnapshot  = unavailable("2", "The data are still being loaded.") // the first load takes seconds, and a further attempt too
	errNoDataYet   = unavailable("5", "The data cannot be loaded yet: the server tries again until it works, and its log has the reason.")
	errListNotMade = unavailable("5", "The list of all lakes is still being made.")
	errDraining    = unavailable("5", "The server is shutting down.")
)

func absent(detail string) *answer.Problem {
	return &answer.Problem{Status: http.StatusNotFound, Detail: detail}
}

func unavailable(retryAfter, detail string) *answer.Problem {
	return &answer.Problem{Status: http.StatusServiceUnavailable, Detail: detail, Header: http.Header{"Retry-After": {retryAfter}}}
}

// Errors of the store, for what only the store has: more of a history than the snapshot, earlier issues of the forecast, events and
// subscriptions. The log has their reason.
var (
	errNoCollection      = errors.New("no such collection")
	errStore             = errors.New("the store cannot answer")
	errIssueStore        = errors.New("the store cannot read forecasts")
	errEventStore        = errors.New("the store cannot read the log of events")
	errSubscriptionStore = errors.New("the store cannot write subscriptions")
)

// errorStatuses are all other errors that are not a 500. Of an error that matches several rows the first decides.
var errorStatuses = []answer.ErrorStatus{
	{Err: errNoCollection, Status: http.StatusNotFound, Detail: "There is no such collection; " + features.Path + " lists them."},
	{Err: data.ErrNoLake, Status: http.StatusNotFound, Detail: "No lake has this id."},
	{Err: data.ErrNoForecast, Status: http.StatusNotFound, Detail: "There are no forecasts: none were made, or those of past years were not worth showing."},
	{Err: tiles.ErrOutOfRange, Status: http.StatusNotFound, Detail: "No tile has this address."},
	// Drawing a tile takes milliseconds, so the queue is short again in a second.
	{Err: tiles.ErrBusy, Status: http.StatusServiceUnavailable, Detail: "Too many tiles are waiting to be drawn.", RetryAfter: "1"},
	// An operator has to repair it, or another process to finish; everything else is answered meanwhile. These are before the
	// timeout, which may be their cause.
	{Err: errStore, Status: http.StatusServiceUnavailable, Detail: "Histories of more than the data in memory cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: tiles.ErrPixels, Status: http.StatusServiceUnavailable, Detail: "The pixels of lakes cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: errIssueStore, Status: http.StatusServiceUnavailable, Detail: "Earlier issues of the forecast cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: errEventStore, Status: http.StatusServiceUnavailable, Detail: "The log of events cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: push.ErrManySubscriptions, Status: http.StatusServiceUnavailable, Detail: "There are as many subscriptions as this server keeps.", RetryAfter: "86400"},
	{Err: push.ErrManyOfClient, Status: http.StatusTooManyRequests, Detail: "Your network has as many subscriptions as this server keeps for one.", RetryAfter: "86400"},
	{Err: errSubscriptionStore, Status: http.StatusServiceUnavailable, Detail: "Subscriptions cannot be stored at the moment.", RetryAfter: "30", Log: true},
	{Err: desk.ErrStore, Status: http.StatusServiceUnavailable, Detail: "The database does not answer, or an import uses it: nothing was changed. Please try again.", RetryAfter: "5", Log: true},
	{Err: data.ErrUncompared, Status: http.StatusServiceUnavailable, Detail: "The newest data are still being compared with those before.", RetryAfter: "5"},
	{Err: snapshot.ErrUnavailable, Status: http.StatusServiceUnavailable, Detail: "Maps of weeks before those in memory cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, Detail: "The answer took too long.", RetryAfter: "5"},
}

func notFound(http.ResponseWriter, *http.Request) error { return errNotFound }
