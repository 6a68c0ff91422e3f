package refresh

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"hash"
	"net/http"
	"strings"
)

// digestFields are what RFC 9530 names the digests of an answer's content and of what it represents. The two are the
// same here: no part of a file is asked for, and whatever coding it comes in is part of it.
var digestFields = [...]string{"Content-Digest", "Repr-Digest"}

// A digest is what an answer says of its bytes.
type digest struct {
	field, algorithm string
	want             []byte
	sum              hash.Hash // of what was written to it so far
}

// digestsOf returns the digests that an answer bears. Algorithms that are unknown or broken say nothing.
func digestsOf(h http.Header) ([]digest, error) {
	var found []digest
	for _, field := range digestFields {
		// A dictionary (RFC 9651, section 3.2) of byte sequences between colons, in which there is no comma.
		for member := range strings.SplitSeq(strings.Join(h.Values(field), ","), ",") {
			algorithm, value, _ := strings.Cut(strings.TrimSpace(member), "=")
			d := digest{field: field, algorithm: algorithm}
			switch algorithm {
			case "sha-256":
				d.sum = sha256.New()
			case "sha-512":
				d.sum = sha512.New()
			default:
				continue
			}
			value, _, _ = strings.Cut(value, ";") // parameters, of which there are none so far
			text, opened := strings.CutPrefix(strings.TrimSpace(value), ":")
			text, closed := strings.CutSuffix(text, ":")
			var err error
			d.want, err = base64.StdEncoding.DecodeString(text)
			if err != nil || !opened || !closed || len(d.want) != d.sum.Size() {
				return nil, fmt.Errorf("%s: %s=%.100q: want the %d bytes of the digest in base64 between colons (RFC 9530)",
					field, algorithm, value, d.sum.Size())
			}
			found = append(found, d)
		}
	}
	return found, nil
}

// check returns an error unless what was written is what the answer says.
func (d digest) check() error {
	if got := d.sum.Sum(nil); !bytes.Equal(got, d.want) {
		return fmt.Errorf("%s: the %s is %x, and the answer's %x", d.field, d.algorithm, got, d.want)
	}
	return nil
}
