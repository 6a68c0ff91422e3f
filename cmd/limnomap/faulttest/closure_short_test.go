//go:build unix && !(linux && long)

package faulttest

func longClosureFaults() []closureFault { return nil }
