// Package api answers HTTP requests: the endpoints of the contract, the tiles, the page, health checks and metrics.
//
// # Concepts
//
// A [Server] serves one published snapshot at a time. [Server.Publish] replaces it as a whole: a request loads it once, so
// that no answer mixes two states of the data. Before the first one, requests for data are answered with 503.
//
// A request passes, in this order:
//
//   - the middleware of package middleware, in the order of Server.chain;
//   - the router of package route, which finds the handler of the path and the values in it;
//   - what the route adds: counting, a rate limit of package ratelimit, an API key of package auth;
//   - a handler, which reads its parameters with package params and answers with an answer.Sender.
//
// The routes are listed in routes.go. Their handlers are grouped in small types, which are made in handlers.go: lakeHandlers,
// tileHandlers, descriptionHandlers, pageHandlers, tableHandler, lakePageHandler and health. All of them embed the same common, which holds what
// they share. The ogc.Service does not: its options give it what it needs. A limit and a key belong to a route, since only there
// its name is known; the middleware is outside of the router, since requests for unknown paths must be logged and bounded too.
//
// # Conventions
//
// Answers follow the contract: longitude first in GeoJSON, times in RFC 3339 and UTC, null for what is unknown. All
// operations are reads, except those of subscriptions to notifications. Rates are requests per minute, and 0 means no limit.
//
// # Errors
//
// A handler returns an error, and answer.Errors writes it as a problem (RFC 9457) with the status in errors.go. Any other error
// is a 500: the client gets the request's id, the log the reason.
//
// # Concurrency
//
// A Server and its handlers are safe for concurrent use. New starts no goroutine.
package api
