// Package index finds lakes by place and by name, without looking at each of them.
//
// [Places] are a k-d tree of unit vectors, in 16 bytes a lake: there neither the poles nor the antimeridian are a special
// case. [Names] are the folded names and ids of all lakes in one text, some 60 bytes a lake, which is searched as a whole:
// that takes milliseconds for a million lakes, and finds what stands inside a word. They know the regions too, each once,
// and of each lake in four bytes which one it lies in.
//
// Both know lakes by their index in the slice that they were made of, hold nothing of it, are immutable, and are safe for
// concurrent use.
package index
