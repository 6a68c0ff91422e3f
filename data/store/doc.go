// Package store keeps lakes, observations and API keys in a database.
//
// [Open] gives a [Store]. Readers see one consistent state for as long as a Scan or a History takes, writers go one
// after the other, and neither waits for the other kind. Another process may write to the same database: its imports
// show in [data.Source.Revision].
//
// By default the database is SQLite in WAL mode: a file with two companions, `-wal` and `-shm`, on a local disk. Its schema is
// brought up to date by Open from the numbered files in migrations; one that is newer than the program is refused.
//
// Another database may be moved over the file of an open Store (a whole one that nobody has open, by a rename): the
// next use opens it, and its revision is another. Nobody should write to it before that, since SQLite knows the log
// beside it by name alone. The file may also be removed and made anew by Open at once. As long as there is no file, or
// none that can be used, or one that nothing was imported into yet, each use is an error that says so.
//
// A file that is written over, cut short or damaged where it lies is read as it is from the next use on. To copy
// another database over it (cp) is no good way to replace it: what reads in that moment may read some of both, and the
// revision only makes sure that whoever did reads once more.
//
// A postgres:// URL names a PostgreSQL instead, for many servers. All lies in its schema limnomap. Observations have a
// partition for each year; an import takes an advisory lock, so that they go one after the other, and notifies whoever
// listens (see [Listener]).
//
// A Store is safe for concurrent use, a [Tx] is not. Errors to test for: [ErrKeyExists], [ErrNoKey], [data.ErrNoLake],
// [fs.ErrNotExist] for a database that is not there, [errors.ErrUnsupported] for a kind that this release lacks.
package store
