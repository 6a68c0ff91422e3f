// Package rangefile reads parts of a file on an HTTP server, by range requests. A [File] is an [io.ReaderAt], so that readers of
// large formats fetch only what they need.
//
// A file is read in blocks that are kept in a cache of bounded size. Adjacent blocks are fetched by one request. When reads follow
// each other, requests grow, up to [Options.MaxRequestBytes]; a read returns as soon as its own blocks have arrived.
//
// # Errors
//
// [Open] returns [ErrNoRanges] if the server does not serve ranges: the file has to be downloaded whole then. It returns [ErrNoFile]
// for a file that the server does not give. Reads return [ErrChanged] if the file on the server is not the one that was opened, by its
// ETag, Last-Modified or size. Once this has happened, all reads do, as blocks of different files must not be mixed. Broken connections
// and temporary errors of the server are tried again, with growing waits. Errors name the URL without its password and query.
//
// # Limits
//
// A server may be hostile. Responses must be exactly the range that was asked for; a longer body is not read. The cache and
// the number and size of requests bound the memory. Redirects are those that the client allows, and each request starts at the URL
// of the file, so that a transport that guards addresses can judge the whole chain.
//
// A File is safe for concurrent use.
package rangefile
