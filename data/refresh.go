package data

import (
	"errors"
	"time"
)

// ErrLeaseLost is returned to a process whose lease of a refresh or a webhook another process has by now.
var ErrLeaseLost = errors.New("another process has taken over")

// A Refresh is the state of the refreshes of a database from its source: the last one, and the failures since the last
// good one. The zero value is that of a database that was never refreshed. It holds nothing that is for operators only.
type Refresh struct {
	// Turn grows by one when a refresh begins and when it ends. So a process can detect that there was another one since
	// it last read the state.
	Turn        int64
	LastAttempt time.Time // when the last one began; zero if there was none
	LastSuccess time.Time // when the last successful one ended; zero if there was none
	// LastError is why the last one failed, in a few words for the public; empty if it succeeded.
	LastError string
	Failures  int // number of failed attempts in a row
	// Rows are those of the last attempt that read any. An attempt without new files keeps them; a
	// rejected one sets Rejected only.
	Rows    RefreshRows
	Rasters RefreshRasters
	// LeasedUntil is when the lease of the refresh in progress ends, unless it is extended. Zero if none is in progress. A
	// time in the past was left by a process that ended during its refresh.
	LeasedUntil time.Time
}

// RefreshRows counts rows by what an import did with them.
type RefreshRows struct {
	Added, Changed, Unchanged, Rejected int64
}

// A RefreshFile is a file of a source as the last complete refresh read it. It is used to ask whether the file has changed.
type RefreshFile struct {
	// Key is different for all files of all sources. It does not reveal the address.
	Key string
	// SHA256 is of its bytes.
	SHA256 [32]byte
	// ETag and LastModified are as an HTTP server sent them; empty if it sent none.
	ETag, LastModified string
}

// A RefreshResult is the result of one refresh.
type RefreshResult struct {
	// Error is why it failed, in a few words for the public; empty if it succeeded.
	Error string
	// Rows are its counts; nil keeps those of the refresh before.
	Rows *RefreshRows
	// Files replaces the stored files of the source; nil keeps them. An empty slice removes them.
	Files []RefreshFile
	// Rasters are the counts of the satellite files at the source; nil keeps those of the refresh before.
	Rasters *RasterCounts
	// Continues is true if only the tables are done: the refresh keeps its lease and its turn, and reads satellite files. If it succeeds, the
	// number of failures stays until the refresh ends.
	Continues bool
	// Late is why satellite files are late, of a refresh that continues and whose tables are imported. It is stored in the place of Error.
	Late string
	// Began is when the import of the tables began, if it was not with the refresh; zero otherwise.
	Began time.Time
}

// RefreshRasters is the state of the satellite files that refreshes read.
type RefreshRasters struct {
	// Taken and Failed count all files whose values were imported, and all attempts that failed. Bytes is what was read of them.
	Taken, Failed, Bytes int64
	// LastTaken is when values were last imported; zero if never. LastProduct and LastDate are those of that file.
	LastTaken   time.Time
	LastProduct string
	LastDate    Date
	RasterCounts
}

// RasterCounts counts satellite files at the source as the last refresh left them.
type RasterCounts struct {
	Waiting int64 // not read yet, or to be read again by the next refresh
	Failing int64 // cannot be used; read again when they change, or after a delay
	Skipped int64 // older than the newest that are read
}

// A RasterRecord is a satellite file of a source as the last attempt to read it left it.
type RasterRecord struct {
	// Key is different for all files of all sources. It does not reveal the address.
	Key string
	// Name is the name of the file, without its folder or address.
	Name string
	// Stamp changes when the file changes: its size and time, or the tag of its server.
	Stamp string
	// Error is why its values could not be imported; empty if they were.
	Error    string
	Failures int       // attempts in a row that failed
	TriedAt  time.Time // when the last attempt ended
	RetryAt  time.Time // before then it is not read again unless it changes; zero if its values were imported
	// The others are of a file whose values were imported.
	Product, Version string
	Date             Date
	Lakes, Gaps      int64 // lakes with a value, and without
	Written          int64 // rows that were added or changed
	Bytes            int64 // read by the last attempt
}

// Taken reports whether the values of the file were imported.
func (r RasterRecord) Taken() bool { return r.Error == "" }
