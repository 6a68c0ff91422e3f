package api

import (
	"context"
	"errors"
	"net/http"

	"limnomap/api/answer"
	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/snapshot"
	"limnomap/tiles"
)

var (
	// errNoSnapshot is returned for everything that shows data, before the first snapshot is published.
	errNoSnapshot = errors.New("no data have been loaded yet")
	// errStore is returned while the store fails, for data that only the store has.
	errStore = errors.New("the store cannot answer")
	// errIssueStore is returned while the store fails, for issues of the forecast that only the store has.
	errIssueStore = errors.New("the store cannot read forecasts")
	// errEventStore is returned while the store fails, for events.
	errEventStore = errors.New("the store cannot read the log of events")
	// errStreams is returned if too many streams of events are open.
	errStreams = errors.New("too many streams of events are open")
	// errNoPush is returned by a server that sends no notifications.
	errNoPush = errors.New("this server sends no notifications")
	// errSubscriptionStore is returned while the store fails, for subscriptions.
	errSubscriptionStore = errors.New("the store cannot write subscriptions")
	// errListNotMade is returned for a list of all lakes that is still being made.
	errListNotMade = errors.New("the list of all lakes is still being made")
	// errDraining is returned by /readyz and for streams once the server is to be stopped.
	errDraining = errors.New("the server is shutting down")
	// errNoAdvisory is returned for an id that no official statement has.
	errNoAdvisory = errors.New("no such official statement")
	// errNoOrigin is returned for what needs the address of this server, by one that does not know it.
	errNoOrigin = errors.New("this server does not know its public address")
	// errNotFound is returned for a path without a route.
	errNotFound = errors.New("nothing has this address")
)

// errorStatuses are all errors that are not a 500. Of an error that matches several rows the first decides.
var errorStatuses = []answer.ErrorStatus{
	{Err: errNotFound, Status: http.StatusNotFound, Detail: "Nothing has this address; openapi.json lists what there is."},
	{Err: data.ErrNoLake, Status: http.StatusNotFound, Detail: "No lake has this id."},
	{Err: errNoAdvisory, Status: http.StatusNotFound, Detail: "No official statement has this id."},
	{Err: data.ErrNoForecast, Status: http.StatusNotFound, Detail: "There are no forecasts: none were made, or those of past years were not worth showing."},
	{Err: errNoCount, Status: http.StatusNotFound, Detail: "No sample with a cell count is current, and the standard has no document without a sample."},
	{Err: errNoPublisher, Status: http.StatusNotFound, Detail: "The public address of this server (--public-url) has no domain name, which each record must have."},
	{Err: errNoOrigin, Status: http.StatusNotFound, Detail: "A sitemap has full addresses, and this server does not know its own: --public-url sets it."},
	{Err: tiles.ErrOutOfRange, Status: http.StatusNotFound, Detail: "No tile has this address."},
	// Drawing a tile takes milliseconds, so the queue is short again in a second.
	{Err: tiles.ErrBusy, Status: http.StatusServiceUnavailable, Detail: "Too many tiles are waiting to be drawn.", RetryAfter: "1"},
	// An operator has to repair it, or another process to finish; everything else is answered meanwhile. These are before the
	// timeout, which may be their cause.
	{Err: errStore, Status: http.StatusServiceUnavailable, Detail: "Histories of more than the data in memory cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: errIssueStore, Status: http.StatusServiceUnavailable, Detail: "Earlier issues of the forecast cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: errEventStore, Status: http.StatusServiceUnavailable, Detail: "The log of events cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: errNoPush, Status: http.StatusNotFound, Detail: "This server sends no notifications."},
	{Err: push.ErrManySubscriptions, Status: http.StatusServiceUnavailable, Detail: "There are as many subscriptions as this server keeps.", RetryAfter: "86400"},
	{Err: errSubscriptionStore, Status: http.StatusServiceUnavailable, Detail: "Subscriptions cannot be stored at the moment.", RetryAfter: "30", Log: true},
	{Err: data.ErrUncompared, Status: http.StatusServiceUnavailable, Detail: "The newest data are still being compared with those before.", RetryAfter: "5"},
	{Err: errStreams, Status: http.StatusServiceUnavailable, Detail: "Too many streams of events are open; ask " + pathEvents + " from time to time instead.", RetryAfter: "60"},
	{Err: snapshot.ErrUnavailable, Status: http.StatusServiceUnavailable, Detail: "Maps of weeks before those in memory cannot be read at the moment.", RetryAfter: "30", Log: true},
	{Err: context.DeadlineExceeded, Status: http.StatusServiceUnavailable, Detail: "The answer took too long.", RetryAfter: "5"},
	// The first load takes seconds, and the next attempt after a failed one not much longer.
	{Err: errNoSnapshot, Status: http.StatusServiceUnavailable, Detail: "The data are still being loaded.", RetryAfter: "2"},
	{Err: errListNotMade, Status: http.StatusServiceUnavailable, Detail: "The list of all lakes is still being made.", RetryAfter: "5"},
	{Err: errDraining, Status: http.StatusServiceUnavailable, Detail: "The server is shutting down.", RetryAfter: "5"},
}

func notFound(http.ResponseWriter, *http.Request) error { return errNotFound }
