// Package refresh updates a database from the source of its data: folders, or files on HTTP servers.
//
// A [Refresher] imports all tables in one transaction, or none of them, and then satellite files one by one. Meanwhile it imports the tables again
// when they are due: an official statement must not wait for a slow satellite file. Nor must it for another table: one that its server does not give in
// some seconds is left out, and imported with all others when it has come.
// [Refresher.RunOnce] does it once, and [Refresher.Run] by a schedule. Any number of processes may do so at the same time: the
// database stores the time of the last refresh, and lets one process at a time do one. A failed refresh is repeated after a time
// that grows up to an hour, without waiting for the schedule.
//
// # Sources
//
// A folder has the files whose names end in .csv, .tsv, .json or .geojson, also followed by .gz or .zst. Hidden files and
// subfolders are ignored. A folder may have 1,000 such files, and 20,000 names in all. The columns of a file decide whether it
// holds lakes or observations. Move a complete file into the folder by renaming it: a folder that is being written to is read
// a little later, and a file that changes while it is read fails the refresh, but a pause in writing cannot be detected.
//
// An http:// or https:// URL is one file. It is requested with the ETag and Last-Modified of the last refresh that imported
// every row of the source, and the answer 304 means that it has not changed. If any file of the source has changed, all are
// imported, since a row may be valid or not depending on another file.
//
// # Satellite files
//
// Of files whose names end in .nc, .tif or .tiff package satellite makes observations, which are imported. They may be in folders, at URLs, and in lists: a table with the columns id, name and at least one of url, href and s3_path. A file of a URL is
// fetched by ranges where the server serves them, and otherwise downloaded. Of each folder and list the files of the newest dates are read,
// the newest first.
//
// The values of a file and the record that it was read are one transaction. A file with a record is not read again until it changes.
// A file that cannot be used does not stop the others: its record says why, and when to read it again. After a fault that may pass, such as
// a server that does not answer, the refresh ends with an error when all others are done, and is repeated.
//
// # Checksums
//
// In a folder, FILE.sha256 is the checksum of FILE, in the format of sha256sum. For a URL it is the file with .sha256 at the
// end of the path, and also the header fields Repr-Digest and Content-Digest (RFC 9530) with sha-256 or sha-512. All checksums
// found must be right, and with [Options.RequireChecksum] there must be one.
//
// # Errors
//
// The error of a refresh is a [Fault], except that [Refresher.RunOnce] also returns why satellite files cannot be used. Its Reason contains no address, path or password: the database stores it and a server
// shows it. The rest is for the log, with URLs reduced to host and path.
package refresh
