// Package answer writes the answers of an HTTP server: it negotiates the content coding, compresses, checks the
// conditions of a request, sends ranges, and turns errors into problem details.
//
// # Concepts
//
// A [Handler] answers a request or returns an error; [Errors] makes an http.Handler of it and writes an error as a
// [Problem] (RFC 9457). A handler answers by a [Sender] and a [Kind], the header fields that all answers of an endpoint share:
//
//	SendBody    a [Body], which was compressed in advance
//	SendBytes   bytes made for this request
//	SendJSON    a value to marshal
//	SendList    a [List], which is written in pieces if it is long
//	SendStored  bytes with a known entity tag, such as a cached tile
//
// A [RequestInfo] holds what the middleware learns about a request; a [Writer] counts the bytes of an answer.
//
// # Conventions
//
// Each answer with status 200 has a strong ETag and Cache-Control. Everything is read with GET or HEAD.
//
// # Concurrency
//
// A Sender, a Body and an Errors are safe for concurrent use. A RequestInfo and a Writer belong to the goroutine that
// serves the request. The package starts no goroutine.
package answer
