package answer

import (
	"net/http"
	"strings"
)

// notModified reports whether the client has the answer with that tag, by If-None-Match (RFC 9110, section 13.1.2). A weak
// tag matches too: a proxy that compresses answers makes a strong one weak.
func notModified(r *http.Request, etag string) bool {
	fields := r.Header["If-None-Match"]
	return len(fields) > 0 && (anyTag(fields) || listsTag(fields, etag, true))
}

// anotherMatch reports whether If-Match (RFC 9110, section 13.1.1) allows only answers other than the one with that tag. A
// weak tag does not name exact bytes, so it does not match.
func anotherMatch(r *http.Request, etag string) bool {
	fields := r.Header["If-Match"]
	return len(fields) > 0 && !anyTag(fields) && !listsTag(fields, etag, false)
}

// anyTag reports whether the field is an asterisk, which every answer matches.
func anyTag(fields []string) bool { return len(fields) == 1 && strings.Trim(fields[0], " \t") == "*" }

// listsTag reports whether etag, a strong one, is among the entity tags of the fields, which are one list (RFC 9110,
// section 8.8.3). It stops at the first element that is no entity tag: a client whose field was misread would keep an old
// answer, and one whose field was not read only gets the new answer again.
func listsTag(fields []string, etag string, weakToo bool) bool {
	for _, field := range fields {
		for {
			field = strings.TrimLeft(field, " \t,") // a list may have empty elements (section 5.6.1.2)
			tag, weak := strings.CutPrefix(field, "W/")
			if len(tag) == 0 || tag[0] != '"' {
				break
			}
			end := strings.IndexByte(tag[1:], '"') + 2
			if end == 1 {
				break
			}
			field = strings.TrimLeft(tag[end:], " \t")
			if field != "" && field[0] != ',' {
				break
			}
			if tag[:end] == etag && (weakToo || !weak) {
				return true
			}
		}
	}
	return false
}
