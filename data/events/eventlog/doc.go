// Package eventlog finds the events of the log of changes: the differences between what was published last and a new snapshot.
//
// What was published last is a [data.Moment], and the state of each lake and each official statement that was valid. These are stored in
// blocks of bytes, in the order of lakes, so that they are read and written as fast as a disk allows, and take a tenth of a snapshot's
// memory at no time. [Next] reads the old blocks, compares them with a snapshot, and passes on events and the blocks that differ. It has
// no state of its own: a [Keeper] runs it in a transaction, in which no one else does the same.
package eventlog
