package data

import "time"

// A Refresh is what became of the refreshes of a database from its source: the last of them, and how it has gone since
// the last good one. The zero value is that of a database that was never refreshed. It holds nothing that only
// operators may know.
type Refresh struct {
	// Turn grows by one when a refresh begins and when it ends, so that one who has seen it can tell whether there was
	// another since.
	Turn        int64
	LastAttempt time.Time // when the last one began; zero if there was none
	LastSuccess time.Time // when the last one that succeeded ended; zero if there was none
	// LastError is why the last one failed, in a few words for anybody to read; empty if it succeeded.
	LastError string
	Failures  int // attempts that failed in a row
	// Rows are those of the last attempt that read any: one that found nothing new leaves them, one that was rejected
	// has only Rejected.
	Rows RefreshRows
	// HeldUntil is when the claim of the refresh that runs now ends, unless it is extended. Zero if none runs. One that
	// lies in the past was left by a process that came to an end in the midst of it.
	HeldUntil time.Time
}

// RefreshRows counts rows by what became of them.
type RefreshRows struct {
	Added, Changed, Unchanged, Rejected int64
}

// A RefreshFile is a file of a source as it was when a refresh took all of it: what to ask with whether it has changed.
type RefreshFile struct {
	// Key tells the files of all sources apart. It gives no address away.
	Key string
	// SHA256 is of its bytes.
	SHA256 [32]byte
	// ETag and LastModified are as an HTTP server sent them; empty if it sent none.
	ETag, LastModified string
}

// A RefreshResult is how one refresh ended.
type RefreshResult struct {
	// Error is why it failed, in a few words that may be shown to anybody; empty if it succeeded.
	Error string
	// Rows are what it did; nil leaves the ones of before.
	Rows *RefreshRows
	// Files takes the place of what is known of the source's files; nil leaves that. An empty slice forgets it.
	Files []RefreshFile
}
