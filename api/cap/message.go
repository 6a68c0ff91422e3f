package cap

import (
	"crypto/sha256"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"

	"limnomap/data"
)

// TypeMessage is the media type of messages, as registered with IANA.
const TypeMessage = "application/cap+xml"

const (
	// soon is what the standard means by the urgency Expected.
	soon = time.Hour
	// smallestRadiusKM is that of a lake without a shore or an area: its beach and the water that people swim in.
	smallestRadiusKM = 1
)

// A Statement is an official statement about a lake. The statement must pass its Check, and the lake too.
type Statement struct {
	*data.Advisory
	Lake *data.Lake
}

// A Publisher makes the messages of one server.
type Publisher struct {
	Sender string // identifies the server among all others; see [SenderOf]
	Notice string // that the data are not real: messages are tests then; empty for real data
}

// SenderOf returns the name of a host as a sender: without the characters that the standard excludes, since references are lists
// of senders with commas and spaces. The host may be empty, and the sender then is no more than the name of the program.
func SenderOf(host string) string {
	if host == "" {
		return "limnomap"
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`,<>&"'`, r) {
			return '-'
		}
		return r
	}, host)
}

// IsPublished reports whether a statement has a message, which it keeps. A statement that was withdrawn or over before it was issued, such as one whose
// text is corrected after its end, never has one: the message would expire before it is sent.
func IsPublished(a *data.Advisory) bool {
	return (a.ValidUntil.IsZero() || a.ValidUntil.After(a.Issued)) && (a.Withdrawn.IsZero() || a.Withdrawn.After(a.Issued))
}

// Message returns the message about a statement that is published at that time: a Cancel once it is withdrawn, otherwise an Alert.
func (p *Publisher) Message(s Statement, now time.Time) ([]byte, error) {
	m := p.alert(s, isWithdrawn(s.Advisory, now))
	content, err := xml.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("CAP message %s: %w", m.Identifier, err)
	}
	return append(append([]byte(xml.Header), content...), '\n'), nil
}

func isWithdrawn(a *data.Advisory, now time.Time) bool {
	return !a.Withdrawn.IsZero() && !now.Before(a.Withdrawn)
}

func (p *Publisher) alert(s Statement, cancel bool) *alert {
	m := &alert{
		Namespace:  capNamespace,
		Identifier: identifierOf(s.Advisory, cancel),
		Sender:     p.Sender,
		Sent:       timeText(sentAt(s.Advisory, cancel)),
		Status:     "Actual",
		MsgType:    "Alert",
		Scope:      "Public",
		Note:       p.Notice,
	}
	if p.isTest() {
		m.Status = "Test"
	}
	if cancel {
		m.MsgType = "Cancel"
		m.References = strings.Join([]string{p.Sender, identifierOf(s.Advisory, false), timeText(s.Issued)}, ",")
	}
	for _, l := range languagesOf(s.Advisory) {
		m.Infos = append(m.Infos, p.info(s, l, cancel))
	}
	return m
}

func (p *Publisher) isTest() bool { return p.Notice != "" }

func (p *Publisher) info(s Statement, l *language, cancel bool) info {
	i := info{
		Language:     l.code,
		Categories:   categoriesOf(s.Advisory),
		Event:        l.events[s.Kind],
		ResponseType: responseTypeOf(s.Kind, cancel),
		Urgency:      urgencyOf(s.Advisory, cancel),
		Severity:     "Minor",
		Certainty:    "Observed",
		Onset:        timeText(s.ValidFrom),
		SenderName:   s.Issuer,
		Headline:     l.headline(s, cancel, p.isTest()),
		Description:  l.text(s.Advisory),
		Web:          uriOf(s.URL),
		Parameters:   []namedValue{{"limnomap:kind", s.Kind.String()}, {"limnomap:cause", s.Cause.String()}},
		Area: area{
			Description: s.Lake.Name,
			Circle:      decimal(s.Lake.Point.Lat()) + "," + decimal(s.Lake.Point.Lon()) + " " + decimal(radiusKM(s.Lake)),
			Geocode:     namedValue{"limnomap:lake_id", string(s.Lake.ID)},
		},
	}
	if warns(s.Kind) {
		i.Severity = "Moderate"
	}
	if s.ValidFrom.After(s.Issued) {
		i.Certainty = "Likely"
	}
	if !s.ValidUntil.IsZero() {
		i.Expires = timeText(s.ValidUntil)
	}
	return i
}

// identifierOf returns the identifier of a message. It has none of the characters that the standard excludes: spaces, commas,
// < and &.
func identifierOf(a *data.Advisory, cancel bool) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %d %d %q %q %q %q %d %d %d", a.ID, a.LakeID, a.Kind, a.Cause, a.Issuer, a.TextEN, a.TextDE, a.URL,
		a.Issued.Unix(), a.ValidFrom.Unix(), a.ValidUntil.Unix())
	identifier := fmt.Sprintf("%s-%x", a.ID, hash.Sum(nil)[:8])
	if cancel {
		identifier += "-cancel"
	}
	return identifier
}

func sentAt(a *data.Advisory, cancel bool) time.Time {
	if cancel {
		return a.Withdrawn
	}
	return a.Issued
}

// warns reports whether a statement of that kind keeps people out of the water.
func warns(k data.AdvisoryKind) bool { return k == data.Closure || k == data.Warning }

func categoriesOf(a *data.Advisory) []string {
	switch {
	case a.Kind == data.Season:
		return []string{"Other"}
	case a.Cause == data.Cyanobacteria || a.Cause == data.Bacteria:
		return []string{"Health", "Env"} // Env: pollution and other environmental events
	}
	return []string{"Health"}
}

func responseTypeOf(k data.AdvisoryKind, cancel bool) string {
	switch {
	case cancel:
		return "None"
	case warns(k):
		return "Avoid"
	case k == data.Info:
		return "Monitor"
	}
	return "None"
}

func urgencyOf(a *data.Advisory, cancel bool) string {
	wait := a.ValidFrom.Sub(a.Issued)
	switch {
	case cancel:
		return "Past"
	case !warns(a.Kind):
		return "Unknown"
	case wait <= 0:
		return "Immediate"
	case wait <= soon:
		return "Expected"
	}
	return "Future"
}

// radiusKM returns the radius of a circle around the point of a lake. It covers the shore if that is known, otherwise as much as the
// area of the lake.
func radiusKM(l *data.Lake) float64 {
	radius := math.Sqrt(l.AreaKM2 / math.Pi)
	if l.Outline != "" {
		bound, metres := l.Outline.Bound(), 0.0
		for _, corner := range []orb.Point{bound.Min, bound.Max, {bound.Min.Lon(), bound.Max.Lat()}, {bound.Max.Lon(), bound.Min.Lat()}} {
			metres = max(metres, geo.DistanceHaversine(l.Point, corner))
		}
		radius = metres / 1000
	}
	return max(math.Ceil(radius*10)/10, smallestRadiusKM)
}

// decimal returns f without an exponent.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// timeText returns a time as the standard demands (section 3.3.2): UTC is -00:00, never Z.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") + "-00:00" }

// uriOf returns an address with all bytes escaped that a URI must not have (RFC 3986). Browsers do so with addresses that people
// write, and the schema demands it.
func uriOf(address string) string {
	const allowed = "-._~:/?#[]@!$&'()*+,;="
	scheme, rest, _ := strings.Cut(address, "://")
	host := strings.IndexAny(rest, "/?#")
	if host < 0 {
		host = len(rest)
	}
	fragment := false
	var b strings.Builder
	for i := range len(rest) {
		c := rest[i]
		ok := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(allowed, c) >= 0
		switch {
		case c == '%':
			ok = i+2 < len(rest) && isHex(rest[i+1]) && isHex(rest[i+2])
		case c == '[' || c == ']':
			ok = i < host
		case c == '#':
			ok, fragment = !fragment, true
		}
		if ok {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if address == "" {
		return ""
	}
	return scheme + "://" + b.String()
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
