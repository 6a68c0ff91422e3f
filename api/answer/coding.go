package answer

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// A Coding is a content coding of RFC 9110, section 8.4.1.
type Coding uint8

// The codings.
const (
	Identity Coding = iota
	Gzip
	Zstd
	Brotli
	codings // how many there are
)

// codingNames are lists of one name each, as headers take them.
var codingNames = [codings][1]string{Identity: {"identity"}, Gzip: {"gzip"}, Zstd: {"zstd"}, Brotli: {"br"}}

func (c Coding) String() string { return codingNames[c][0] }

var byEncoding = []string{"Accept-Encoding"}

// errNotAcceptable is returned to a client that forbids even an answer that is not compressed.
var errNotAcceptable = errors.New("no content coding is acceptable")

// chooseCoding returns the coding of offer that the client prefers, and notes in Vary that the answer depends on it.
func chooseCoding(w http.ResponseWriter, r *http.Request, offer []Coding) (Coding, error) {
	if h := w.Header(); h["Vary"] == nil {
		h["Vary"] = byEncoding
	} else {
		h.Add("Vary", byEncoding[0])
	}
	c, ok := negotiate(r.Header["Accept-Encoding"], offer)
	if !ok {
		return 0, errNotAcceptable
	}
	return c, nil
}

// maxAccepted is how many elements of an Accept-Encoding field are read. Browsers send four.
const maxAccepted = 32

// negotiate returns the coding of offer that the fields of Accept-Encoding give the most weight; of equally weighted ones
// the first in offer. It reports false if the client accepts none of them (RFC 9110, section 12.5.3). Without the field any
// coding would do, and the answer is identity: a client that does not name a coding is most likely a program that cannot
// decode any.
func negotiate(fields []string, offer []Coding) (Coding, bool) {
	if len(fields) == 0 {
		return Identity, true
	}
	weights := weigh(fields)
	best, heaviest := Identity, 0
	for _, c := range offer {
		if weights[c] > heaviest {
			best, heaviest = c, weights[c]
		}
	}
	return best, heaviest > 0
}

// weigh returns the weight of each coding, in thousandths.
func weigh(fields []string) [codings]int {
	const unset = -1
	weights := [codings]int{unset, unset, unset, unset}
	others := unset // the weight of *
	read := 0
	for _, field := range fields {
		for element := range strings.SplitSeq(field, ",") {
			if read++; read > maxAccepted {
				break
			}
			name, parameter, _ := strings.Cut(element, ";")
			name = strings.TrimSpace(name)
			weight := quality(parameter)
			if name == "*" {
				others = weight
				continue
			}
			for c := range weights {
				if strings.EqualFold(name, codingNames[c][0]) || c == int(Gzip) && strings.EqualFold(name, "x-gzip") {
					weights[c] = weight
				}
			}
		}
	}
	for c := range weights {
		switch {
		case weights[c] != unset:
		case others != unset:
			weights[c] = others
		case c == int(Identity):
			weights[c] = 1 // acceptable unless excluded, but a client that lists another coding prefers that one
		default:
			weights[c] = 0
		}
	}
	return weights
}

// quality reads a weight of RFC 9110, section 12.4.2, such as "q=0.5", in thousandths. Without one it is 1000. A malformed
// one is 0: sending a coding that a client did not ask for is worse than sending plain text.
func quality(parameter string) int {
	parameter = strings.TrimSpace(parameter)
	if parameter == "" {
		return 1000
	}
	name, value, _ := strings.Cut(parameter, "=")
	if !strings.EqualFold(strings.TrimSpace(name), "q") {
		return 0
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(q >= 0 && q <= 1) {
		return 0
	}
	return int(q * 1000)
}
