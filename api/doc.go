// Package api answers the HTTP requests: the contract's endpoints, the tiles, the page, health and metrics.
//
// # Concepts
//
// A [Server] serves one published snapshot at a time. [Server.Publish] swaps it whole: a request loads it once and
// answers from it alone, so that no answer mixes two states of the data. Until the first one, what needs data is
// answered with 503.
//
// The routes stand in one table, which can be read as the list of all that the server answers; a shortcut takes requests
// for tiles and for fixed addresses past the router to the same handlers. Around both, outermost first, stand the
// middleware, each in a file of its own:
//
//	withRequestID    an id for the log and the answer, and the record that the middleware share
//	withClientAddr   who is asking, through trusted proxies
//	logRequests      one line per request
//	recoverPanics    a mistake of ours is a 500, not the end of the process
//	securityHeaders  what browsers are to hold the answer to
//	withNotice       that the data are simulated, where they are
//	withAge          how old the data are, while nobody can say that they are the newest
//	crossOrigin      who may read it from another page, preflights included
//	limitRequest     no endless addresses, no bodies
//
// Each route adds its own: instrument counts it under its name, limiters count tokens per client address or per key,
// and a keyring asks for a key. They stand inside, because a route's name is known only there; the others stand
// outside, because an unknown path has to be logged and bounded as well.
//
// # Conventions
//
// Answers are as the contract has them: longitude first in GeoJSON, times in RFC 3339 and UTC, null for what is not
// known. All operations are reads. Rates are requests per minute, and 0 means no limit.
//
// Several servers may share the limits through a [Quota]; what each holds of it in advance bounds by how much a client
// may exceed a limit, and RateLimit tells what is left as far as the answering server knows.
//
// # Errors
//
// A handler returns an error, and one adapter turns it into a problem (RFC 9457) with the status that belongs to it.
// What has no status of its own is a 500: the client gets the request's id, the log the reason.
//
// # Concurrency
//
// A Server and its handlers are safe for concurrent use. New starts no goroutine.
package api
