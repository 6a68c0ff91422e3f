//go:build long

package testsize

// Long reports whether the long tests run.
const Long = true
