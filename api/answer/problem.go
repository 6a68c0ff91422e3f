package answer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// ProblemType is the media type of RFC 9457, section 3.
const ProblemType = "application/problem+json"

// internalDetail is all that a client learns about a 500. The log has the error, with the same request id.
const internalDetail = "The server could not answer this request. Its log has the reason under this request_id."

// A ParameterError names a wrong parameter, the mistake and the allowed values.
type ParameterError struct {
	Parameter string `json:"parameter"`
	Detail    string `json:"detail"`
	Missing   bool   `json:"-"` // the parameter is required and was not given
}

// A Problem is an error as the client sees it: every field is public. The detail of a 500 is never shown, so that an
// error text that was meant for the log cannot leave the process by mistake.
type Problem struct {
	Status int
	Detail string
	Errors []ParameterError
	// Members are further members of the body (RFC 9457, section 3.2).
	Members []Member
	Header  http.Header // added to the answer, replacing fields of the same name; Retry-After, Allow and the like
}

// A Member is a member of a JSON object.
type Member struct {
	Name  string
	Value any
}

func (p *Problem) Error() string {
	s := strconv.Itoa(p.Status) + " " + http.StatusText(p.Status)
	if reason := p.reason(); reason != "" {
		s += ": " + reason
	}
	return s
}

// reason returns the detail and the errors of the parameters.
func (p *Problem) reason() string {
	s := p.Detail
	for _, e := range p.Errors {
		s += "; " + e.Parameter + ": " + e.Detail
	}
	return strings.TrimPrefix(s, "; ")
}

// problemBody is a problem as JSON, in the order of RFC 9457, section 3.1. Its type is about:blank: the status code
// tells the kind of the problem and the title is that code's phrase (section 4.2.1).
type problemBody struct {
	Type      string           `json:"type"`
	Title     string           `json:"title"`
	Status    int              `json:"status"`
	Detail    string           `json:"detail,omitempty"`
	Instance  string           `json:"instance,omitempty"`
	Errors    []ParameterError `json:"errors,omitempty"`
	RequestID string           `json:"request_id,omitempty"`
}

// A ProblemPage makes a page of a problem, for people: HTML in that language. It must not show more than p, of which the detail is public.
type ProblemPage func(r *http.Request, p *Problem) (content []byte, language string, err error)

// forPeople reports whether a person will see the answer to r: a browser that opens the address says so by Sec-Fetch-Dest, and an older one by
// preferring HTML. Scripts, pictures and other programs are told by the same two fields: they send neither, or another value.
func forPeople(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "iframe", "frame":
		return true
	case "":
		first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
		first, _, _ = strings.Cut(first, ";")
		return strings.EqualFold(strings.TrimSpace(first), "text/html")
	}
	return false
}

// writePage answers r with p as a page, if the server has one for people and r is from one of them. It reports whether it did.
func writePage(w http.ResponseWriter, r *http.Request, p *Problem) bool {
	tw, ok := w.(*Writer)
	if !ok || tw.problemPage == nil {
		return false
	}
	w.Header().Add("Vary", "Accept, Sec-Fetch-Dest")
	if !forPeople(r) {
		return false
	}
	content, language, err := tw.problemPage(r, p)
	if err != nil {
		return false // the client gets the same in another form
	}
	w.Header().Add("Vary", "Accept-Language")
	w.Header().Set("Content-Language", language)
	WriteFailure(w, r, p.Status, "text/html; charset=utf-8", p.Header, content)
	return true
}

// WriteProblem answers r with p, in JSON or as a page for people. Nothing may have been written yet.
func WriteProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	if p.Status == http.StatusInternalServerError {
		hidden := *p
		hidden.Detail, hidden.Errors = internalDetail, nil
		p = &hidden
	}
	if p.Status == http.StatusBadRequest {
		InfoOf(r).Reason = p.reason()
	}
	if writeRetry(w, r, p) || writePage(w, r, p) {
		return
	}
	body := problemBody{
		Type:     "about:blank",
		Title:    http.StatusText(p.Status),
		Status:   p.Status,
		Detail:   p.Detail,
		Instance: instance(w, r),
		Errors:   p.Errors,
	}
	if p.Status >= http.StatusInternalServerError {
		body.RequestID = RequestID(r)
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic("answer: a problem of strings and an integer must marshal: " + err.Error())
	}
	for _, m := range p.Members {
		name, _ := json.Marshal(m.Name) // a string
		value, err := json.Marshal(m.Value)
		if err != nil {
			panic("answer: a member of a problem must marshal: " + err.Error())
		}
		text = append(append(append(append(append(text[:len(text)-1], ','), name...), ':'), value...), '}')
	}
	WriteFailure(w, r, p.Status, ProblemType, p.Header, append(text, '\n'))
}

// TypeEventStream is the media type of server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
const TypeEventStream = "text/event-stream"

// PathEventStream is the path of the stream of events, below that of the server.
const PathEventStream = "/api/v1/events/stream"

// AsksForEvents reports whether an EventSource sent r for the stream: it accepts nothing else. After any answer but an event stream it never connects again.
func AsksForEvents(r *http.Request) bool {
	accept := r.Header["Accept"]
	return len(accept) == 1 && accept[0] == TypeEventStream && strings.HasSuffix(r.URL.Path, PathEventStream)
}

// writeRetry tells an EventSource of a temporary refusal by a stream that ends, and says when it may connect again.
func writeRetry(w http.ResponseWriter, r *http.Request, p *Problem) bool {
	if p.Status != http.StatusServiceUnavailable && p.Status != http.StatusTooManyRequests || !AsksForEvents(r) {
		return false
	}
	seconds, err := strconv.Atoi(cmp.Or(p.Header.Get("Retry-After"), w.Header().Get("Retry-After")))
	if err != nil {
		seconds = 5
	}
	WriteFailure(w, r, http.StatusOK, TypeEventStream, p.Header, fmt.Appendf(nil, ": %s\nretry: %d\n\n", p.Detail, 1000*seconds))
	return true
}

// WriteFailure answers r with a status of 400 or more, or that of a stream that ends at once, and a text that gives the reason, in another format than problem
// details. The fields of header are added, replacing those of the same name. No cache may store the answer: the next
// import may add an unknown lake, and a rate limit ends after a second.
func WriteFailure(w http.ResponseWriter, r *http.Request, status int, contentType string, header http.Header, text []byte) {
	setPicture(w, false)
	h := w.Header()
	// A handler may have set fields for the answer that it could not finish.
	for _, name := range []string{"Content-Encoding", "Content-Range", "Content-Disposition", "Accept-Ranges", "Etag", "Last-Modified", "Link", "Age"} {
		h.Del(name)
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", CacheNever)
	h.Set("X-Content-Type-Options", "nosniff")
	for name, values := range header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// A write fails when the client has left: there is no one to report it to.
		_, _ = w.Write(text)
	}
}

// maxInstance bounds the length of a path in a problem.
const maxInstance = 1024

// instance returns the path of r as a URI reference, escaped. It leaves the query out, which may hold secrets.
func instance(w http.ResponseWriter, r *http.Request) string {
	path := r.URL.EscapedPath()
	if tw, ok := w.(*Writer); ok {
		if rest, below := strings.CutPrefix(path, tw.basePath); below && (rest == "" || rest[0] == '/') {
			path = tw.prefix + rest
		}
	}
	if len(path) > maxInstance {
		return ""
	}
	// A reference that starts with two slashes would name a host (RFC 3986, section 4.2).
	if strings.HasPrefix(path, "//") {
		return "/." + path
	}
	return path
}
