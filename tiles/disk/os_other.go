//go:build !linux && !darwin && !freebsd

package disk

import "os"

const openToRead = os.O_RDONLY

func isFull(error) bool { return false }
