// Package diskspace tells how much room a disk has, and makes temporary files.
package diskspace

import "fmt"

// Reserve is how many bytes an import and a download leave free for others.
const Reserve = 64 << 20

// Check returns an error if the disk of a folder has not enough room for need more bytes and [Reserve]. It returns nil if the
// system does not say how much is free.
func Check(dir string, need int64) error {
	free, _, ok := Of(dir)
	return check(dir, free, ok, need)
}

func check(dir string, free int64, ok bool, need int64) error {
	if !ok || free-Reserve >= need {
		return nil
	}
	return fmt.Errorf("the disk of %s has %d bytes free: want %d, of which %d stay free", dir, free, need+Reserve, int64(Reserve))
}
