package answer

import (
	"strconv"
	"strings"
	"time"
)

// The values of Cache-Control. Data change about weekly, yet a correction must be seen soon: a minute. What a shared
// cache may send while it revalidates is bounded too: a lake that was clean an hour ago may not be clean now.
const (
	CacheMinute  = "public, max-age=60, stale-while-revalidate=300"
	CachePrivate = "private, max-age=60"                 // only for this client, such as the holder of a key
	CacheRevisit = "no-cache"                            // stored, but revalidated before each use
	CacheNever   = "no-store"                            // true at one instant only
	CacheForever = "public, max-age=31536000, immutable" // the address changes with the content
)

var privateMinute = []string{CachePrivate}

// A Kind is what the answers of an endpoint have in common. It keeps the values of two header fields in the form that a
// header takes, so that no answer allocates them.
type Kind struct {
	contentType  []string
	cacheControl []string
	picture      bool // the header fields for documents are left out
	ages         bool // the answer has an Age while the data cannot be confirmed
	compress     bool
}

// NewKind returns the kind of answers of that media type. They have an Age if caches may use them without asking for some
// time: an answer that is revalidated each time is as old as the answer, and an address with a version in it does not age.
func NewKind(contentType, cacheControl string) Kind {
	return Kind{
		contentType:  []string{contentType},
		cacheControl: []string{cacheControl},
		picture:      isPicture(contentType),
		ages:         cacheControl != CacheRevisit && cacheControl != CacheNever && cacheControl != CacheForever,
		compress:     !isPicture(contentType),
	}
}

// Timeless returns k for answers that do not change with the data: they have no Age.
func (k Kind) Timeless() Kind {
	k.ages = false
	return k
}

// PrivateIf returns k, or with private CachePrivate instead of its Cache-Control.
func (k Kind) PrivateIf(private bool) Kind {
	if private {
		k.cacheControl = privateMinute
	}
	return k
}

// cacheControlFor returns the Cache-Control of an answer that will be true for that time: no cache may use it for longer, not even while
// it revalidates it. An address with a version changes with the content.
func (k Kind) cacheControlFor(left time.Duration) []string {
	control := k.cacheControl[0]
	if control == CacheForever {
		return k.cacheControl
	}
	seconds := int64(left / time.Second)
	var directives []string
	for directive := range strings.SplitSeq(control, ", ") {
		name, value, _ := strings.Cut(directive, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			directives = append(directives, directive)
			continue
		}
		if n = min(n, seconds); n > 0 {
			directives = append(directives, name+"="+strconv.FormatInt(n, 10))
		} else if name == "max-age" {
			return []string{CacheRevisit}
		}
		seconds -= n
	}
	return []string{strings.Join(directives, ", ")}
}

// NotDocument returns k for answers that no browser shows by themselves, as pictures: they need no header fields for
// documents.
func (k Kind) NotDocument() Kind {
	k.picture = true
	return k
}
