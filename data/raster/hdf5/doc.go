// Package hdf5 reads the structure, the attributes and the values of HDF5 files, in pure Go and over an [io.ReaderAt], so that a file
// behind HTTP range requests costs only the bytes that are needed. NetCDF-4 files are HDF5 files.
//
// A [File] has a tree of [Group] and [Dataset] objects, which both have attributes. [Dataset.Gather] reads values: it takes many windows
// at once, reads and decompresses each chunk that they touch exactly once, as a stream, and passes the values of each window to a
// function. A chunk is never held whole.
//
// # Conventions
//
// Dimensions are in the order of the file, the slowest first. Values are float64: raw values of the file, without the scale, offset and
// fill value that conventions such as those of NetCDF give a meaning to. Integers above 2^53 are rounded by Gather, and exact in
// [Attribute.Ints]. What is not in the file, such as a chunk that was never written, has the fill value of the dataset, or 0. Names are
// passed on as they are in the file, in UTF-8 by convention. An address identifies an object: it is what references refer to.
//
// # What is supported
//
// Superblocks of version 0 to 3, also after other data; object headers of both versions, named types; groups of
// symbol tables, compact and dense groups; hard and soft links; compact and dense attributes. Of datasets: contiguous, compact and
// chunked layouts of version 1 to 4 with all kinds of chunk indexes; integers of 8 to 64 bits, enums, bitfields, and floating-point
// numbers of 16, 32 and 64 bits in both byte orders; the filters shuffle, deflate, Fletcher32, Zstandard and LZF. Of attributes also
// strings and references, and arrays and lists of variable length of all these.
//
// Not supported, and refused by name: other filters, such as SZIP, N-bit, scale-offset and Blosc; virtual and external datasets; links to
// other files; files that are split by a driver, or have messages that objects share in a heap; images of a cache; a filter
// twice; datasets of strings, compounds and other types that are not numbers; region references.
//
// # Errors
//
// Damage is reported as [ErrFormat], a valid feature that this package does not read as [ErrUnsupported] with the name of the feature,
// and a name that a group does not have, or not for an object of the wanted kind, as [ErrNotFound]; test for them with [errors.Is]. A
// dataset with an unsupported feature is still returned, so that its attributes can be read, and [Dataset.Err] says what Gather would
// return. An attribute that is damaged or of an odd type does not affect the others. Errors of the reader are passed on.
//
// # Limits
//
// Files may be hostile. Every count, length and address is checked against the size of the file or a fixed limit before memory is
// allocated: an object header has at most 8 MiB and 65,536 messages, a group at most 131,072 links, an object at most 65,536 attributes
// and 16 MiB of them, an attribute at most 1,048,576 elements and 4 MiB. Checksums are verified where the file has them. Trees that have
// cycles end with an error. Groups may contain each other, as the format allows: a caller that walks through a file compares addresses, or
// bounds the depth. A path has at most 4,096 bytes. Objects are small. A file keeps a few MiB of what it has read of them, and more only
// of the last one that is larger. For the memory of Gather see there.
//
// Files, groups, datasets and attributes are immutable after Open and safe for concurrent use, if the reader is.
package hdf5
