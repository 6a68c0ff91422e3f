//go:build race

package testsize

// Race reports whether the tests run with the race detector, with which pools keep less memory.
const Race = true
