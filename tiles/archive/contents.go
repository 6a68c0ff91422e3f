package archive

import "crypto/sha256"

// A digest names the content of a tile. Of 2^64 tiles two different ones might share it by chance; a wrong tile is
// worse than a slow export, so that no shorter or quicker hash will do.
type digest [16]byte

func digestOf(png []byte) digest {
	sum := sha256.Sum256(png)
	return digest(sum[:16])
}
