// Package disk keeps the encoded tiles of a map in a folder, one file for each, so that they survive a restart. It knows
// neither maps nor pixels: an entry is a key and a body, both bytes.
//
// A [Cache] is opened with [Open]. [Cache.Get] finds an entry by the SHA-256 of its key; [Cache.Put] queues one to be
// written and never waits. A [Fill] writes entries ahead of use and waits for each. A [Folder] is the same folder as the
// tools that list, check and remove its files see it.
//
// The folder is the only index, so several processes may share one. An entry is written to a temporary file and renamed;
// it carries checksums of its key and its body. A damaged entry is a miss and is removed. Nothing outside the folder is
// ever read or written, and no file in it that does not have the name of an entry.
//
// The cache stays within its budget in bytes, and gives way when others need the space of the disk: it then removes the
// entries that were not used for the longest time.
//
// No fault of the disk is returned by Get or Put. Each kind of fault is logged when it begins and when it ends, and counted
// in the [Metrics]; meanwhile the cache tries that operation only every half minute. A disk that hangs delays a Get by two
// seconds at most, once in that time.
//
// A Cache, a Fill and a Folder are safe for concurrent use. Callers may test errors for [ErrFull], which a Fill returns,
// and for [ErrDamaged] and [ErrUnfinished], which an [Entry] of a Folder has.
package disk
