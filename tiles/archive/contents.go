package archive

import "crypto/sha256"

// A digest identifies the content of a tile. Two of 2^64 different tiles may share one by chance. A wrong tile is worse than
// a slow export, so a shorter or faster hash is not enough.
type digest [16]byte

func digestOf(png []byte) digest {
	sum := sha256.Sum256(png)
	return digest(sum[:16])
}
