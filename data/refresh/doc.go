// Package refresh brings a database up to date from where its data come from: a folder, or files on an HTTP server.
//
// A [Refresher] takes all files of a source in one transaction, or nothing of them. [Refresher.Once] does it now, and
// [Refresher.Run] does it again and again by a schedule, in as many processes at a time as there are: the database
// remembers when it was done last, and lets one of them do it. A failed refresh is tried again after a while that grows
// up to an hour, before the schedule's next one.
//
// # Sources
//
// A folder gives its files that end in .csv, .tsv, .json or .geojson, and the same with .gz or .zst, by name; those that
// begin with a dot and those in folders below are left alone. It may have 1,000 such files, and 20,000 names in all. A file is either lakes or observations, which its columns
// tell. Move a file into the folder by renaming it when it is whole: a folder that is being written to is waited for a
// little, and a file that changes while it is read rejects the refresh, but one whose writing pauses looks whole.
//
// An http:// or https:// URL is one file. It is asked for with the ETag and Last-Modified of the last refresh that took
// every row of the source, and the answer 304 takes no more. If any file of the source has changed, all are taken: a row
// may be good or bad by what another file says.
//
// # Checksums
//
// In a folder FILE.sha256 beside FILE, in the form of sha256sum, and for URLs the same with .sha256 at the end of the
// path, as well as the fields Repr-Digest and Content-Digest (RFC 9530) with sha-256 or sha-512. What is given must be
// right, and with [Options.RequireChecksum] it must be given.
//
// # Errors
//
// A refresh fails with a [Fault], whose Reason names no address, path or password: it is what the database remembers and
// a server shows. The rest is for the log, with addresses cut down to host and path.
package refresh
