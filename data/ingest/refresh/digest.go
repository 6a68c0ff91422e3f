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

// digestFields are the header fields of RFC 9530 for digests of the content and of the representation. Here both are the
// same: the request is for the whole file, and a content coding is part of it.
var digestFields = [...]string{"Content-Digest", "Repr-Digest"}

// A digest is a digest of the body in a response's header.
type digest struct {
	field, algorithm string
	want             []byte
	sum              hash.Hash // of the body so far
}

// digestsOf returns the digests in a header. Unknown and insecure algorithms are ignored.
func digestsOf(h http.Header) ([]digest, error) {
	var found []digest
	for _, field := range digestFields {
		// A dictionary (RFC 9651, section 3.2) of byte sequences between colons, which contain no comma.
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
			value, _, _ = strings.Cut(value, ";") // parameters; none are defined
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

// check returns an error unless the body has this digest.
func (d digest) check() error {
	if got := d.sum.Sum(nil); !bytes.Equal(got, d.want) {
		return fmt.Errorf("%s: its %s is %x, but that of the body is %x", d.field, d.algorithm, got, d.want)
	}
	return nil
}
