// Package store keeps lakes, observations, official statements and API keys in a database.
//
// [Open] returns a [Store]. Readers see one consistent state during each read. Writers take turns. Readers do not
// wait for writers, nor writers for readers. Another process may write to the same database: [snapshot.Source.Revision] shows
// its imports.
//
// By default the database is SQLite in WAL mode: a file on a local disk with two more files, `-wal` and `-shm`. Open brings
// its schema up to date with the numbered files in migrations. It rejects a schema that is newer than the program.
//
// The file of an open Store may be replaced: rename a complete database that no process has open to its path. The next use
// reopens it and has another revision. No process should write to the new file before that, because SQLite finds the log
// by its name. The file may also be removed and created again by Open. While there is no file, or one that cannot be used,
// or one into which nothing has been imported yet, each use returns an error.
//
// A file that is truncated or damaged is read as it is from the next use on. Never write over the file of an open Store, as
// cp does: a read may see parts of both databases, the log of the old one may be applied to the new one, and new content of
// the same revision and size is not noticed.
//
// A postgres:// URL names a PostgreSQL database instead, for many servers. All tables are in its schema limnomap.
// Observations have a partition for each year. An import takes an advisory lock, so that imports take turns, and notifies
// listeners (see [Store.Listen]). If the URL names several hosts, what reads uses one that target_session_attrs asks for, such as a hot standby, and
// what writes the one that lets write (see [Store.Standby]).
//
// A Store is safe for concurrent use, a [Tx] is not. Errors to test for: [ErrKeyExists], [ErrNoKey], [data.ErrNoLake],
// [data.ErrLeaseLost], [fs.ErrNotExist] for a database that does not exist, [errors.ErrUnsupported] for an unsupported type of
// database. A failure of the database itself is an [Error].
package store
