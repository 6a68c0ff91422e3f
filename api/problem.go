package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// problemType is the media type of RFC 9457, section 3.
const problemType = "application/problem+json"

// internalDetail is all that a client learns of a 500. What happened stands in the log, under the same request id.
const internalDetail = "The server could not answer this request. Its log has the reason under this request_id."

// A paramError says what is wrong with one parameter and what is allowed instead.
type paramError struct {
	Parameter string `json:"parameter"`
	Detail    string `json:"detail"`
	missing   bool   // it was not given
}

// A problem is an error as the client sees it: every field is public. The detail of a 500 is never shown, so that an
// error text that was meant for the log cannot leave the process by mistake.
type problem struct {
	Status int
	Detail string
	Errors []paramError
	Header http.Header // added to the answer, replacing what stands there; Retry-After, Allow and the like
}

func (p *problem) Error() string {
	s := strconv.Itoa(p.Status) + " " + http.StatusText(p.Status)
	if p.Detail != "" {
		s += ": " + p.Detail
	}
	for _, e := range p.Errors {
		s += "; " + e.Parameter + ": " + e.Detail
	}
	return s
}

// problemBody is a problem on the wire, in the order of RFC 9457, section 3.1. Its type is about:blank, which says
// that the status code alone tells the kind of the problem and the title is that code's phrase (section 4.2.1).
type problemBody struct {
	Type      string       `json:"type"`
	Title     string       `json:"title"`
	Status    int          `json:"status"`
	Detail    string       `json:"detail,omitempty"`
	Instance  string       `json:"instance,omitempty"`
	Errors    []paramError `json:"errors,omitempty"`
	RequestID string       `json:"request_id,omitempty"`
}

// writeProblem answers r with p. Nothing may have been written yet. An answer that fails is never stored by a cache:
// the next import may mend an unknown lake, and the next second a limit.
func writeProblem(w http.ResponseWriter, r *http.Request, p *problem) {
	body := problemBody{
		Type:     "about:blank",
		Title:    http.StatusText(p.Status),
		Status:   p.Status,
		Detail:   p.Detail,
		Instance: instance(r),
		Errors:   p.Errors,
	}
	if p.Status >= http.StatusInternalServerError {
		body.RequestID = requestID(r)
	}
	if p.Status == http.StatusInternalServerError {
		body.Detail, body.Errors = internalDetail, nil
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic("api: a problem of strings and an integer must marshal: " + err.Error())
	}
	writeFailure(w, r, p.Status, problemType, p.Header, append(text, '\n'))
}

// writeFailure answers r with that status and a text of that type that says why. The header is added, in place of what
// stands there.
func writeFailure(w http.ResponseWriter, r *http.Request, status int, contentType string, header http.Header, text []byte) {
	setPicture(w, false)
	h := w.Header()
	// A handler may have described the answer that it hoped to give; none of that is true of this one.
	for _, name := range []string{"Content-Encoding", "Content-Range", "Content-Disposition", "Accept-Ranges", "Etag", "Last-Modified", "Link", "Age"} {
		h.Del(name)
	}
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	for name, values := range header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// A failed write means that the client left, and nobody is there to be told.
		_, _ = w.Write(text)
	}
}

// maxInstance bounds what is echoed of a path; a longer one has nothing to say.
const maxInstance = 1024

// instance returns the path of r as a URI reference, escaped. The query is left out: it may hold what the client
// would not see in a log or a bug report.
func instance(r *http.Request) string {
	path := r.URL.EscapedPath()
	if len(path) > maxInstance {
		return ""
	}
	// A reference that starts with two slashes would name a host (RFC 3986, section 4.2).
	if strings.HasPrefix(path, "//") {
		return "/." + path
	}
	return path
}
