// Package pixels keeps the values of the pixels of a lake in a satellite file, in a few bytes.
//
// A [Map] has a code for each pixel that counts for the lake: a value on a logarithmic scale, or why it has none. [Packer.Pack] makes the bytes that a
// database stores, and [Packed.Unpack] reads them; they may come from anyone who may write to the database, and are checked.
package pixels
