package api

import (
	"strconv"
	"strings"
)

// An encoding is a content coding of RFC 9110, section 8.4.1.
type encoding uint8

const (
	identity encoding = iota
	gzipped
	zstandard
	brotlied
	encodings // how many there are
)

// encodingNames are lists of one name each, as headers take them.
var encodingNames = [encodings][1]string{identity: {"identity"}, gzipped: {"gzip"}, zstandard: {"zstd"}, brotlied: {"br"}}

func (e encoding) String() string { return encodingNames[e][0] }

// maxAccepted is how many elements of an Accept-Encoding field are read. Browsers send four.
const maxAccepted = 32

// negotiate returns the coding to answer with: of those in offer the one that the fields of Accept-Encoding give the
// most weight, and of equally weighted ones the one that stands first in offer. It reports false if the client takes
// none of them (RFC 9110, section 12.5.3). No field at all, which means that anything goes, gets identity: whoever says
// nothing about compression is most likely a program that cannot undo it.
func negotiate(fields []string, offer []encoding) (encoding, bool) {
	if len(fields) == 0 {
		return identity, true
	}
	weights := weigh(fields)
	best, heaviest := identity, 0
	for _, e := range offer {
		if weights[e] > heaviest {
			best, heaviest = e, weights[e]
		}
	}
	return best, heaviest > 0
}

// weigh returns the weight of each coding, in thousandths.
func weigh(fields []string) [encodings]int {
	const unsaid = -1
	weights := [encodings]int{unsaid, unsaid, unsaid, unsaid}
	others := unsaid // what * weighs
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
			for e := range weights {
				if strings.EqualFold(name, encodingNames[e][0]) || e == int(gzipped) && strings.EqualFold(name, "x-gzip") {
					weights[e] = weight
				}
			}
		}
	}
	for e := range weights {
		switch {
		case weights[e] != unsaid:
		case others != unsaid:
			weights[e] = others
		case e == int(identity):
			// Acceptable unless excluded, but whoever lists another coding would rather have that.
			weights[e] = 1
		default:
			weights[e] = 0
		}
	}
	return weights
}

// quality reads a weight of RFC 9110, section 12.4.2, such as "q=0.5", in thousandths. Without one it is 1000, and one
// that cannot be read says no: sending what a client did not ask for is worse than sending plain text.
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
