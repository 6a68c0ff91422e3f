package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sendContent answers with v, which is in coding e, or tells the client that it has it already. Conditional and partial
// requests beyond If-None-Match are http.ServeContent's; the common ones are answered here, since ServeContent leaves out
// the length of an answer with a content coding, and costs more.
func sendContent(w http.ResponseWriter, r *http.Request, k kind, e encoding, v *variant) error {
	h := w.Header()
	h["Etag"] = v.etag
	h["Cache-Control"] = k.cacheControl
	setPicture(w, k.picture)
	if notModified(r, v.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h["Content-Type"] = k.contentType
	if e != identity {
		h["Content-Encoding"] = encodingNames[e][:]
	}
	// Range means something with GET alone (RFC 9110, section 14.2), which ServeContent does not see.
	if r.Method == http.MethodGet && r.Header["Range"] != nil || r.Header["If-Match"] != nil {
		pw := &partialWriter{ResponseWriter: w}
		http.ServeContent(pw, r, "", time.Time{}, v.reader())
		return pw.refusal(v.size())
	}
	length := v.length
	if length == nil {
		length = []string{strconv.FormatInt(v.size(), 10)}
	}
	h["Content-Length"] = length
	h["Accept-Ranges"] = byteRanges
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// A failed write means that the client left, and nobody is there to be told.
		_ = writeTogether(r.Context(), func() error {
			_, err := v.writeTo(w)
			return err
		})
	}
	return nil
}

// notModified reports whether the client says that it has the answer with that tag, by the weak comparison of RFC 9110,
// section 8.8.3.2. A tag holds no quote, so wherever it stands quoted in the field it stands whole.
func notModified(r *http.Request, etag string) bool {
	for _, field := range r.Header["If-None-Match"] {
		if strings.Contains(field, etag) || strings.TrimSpace(field) == "*" {
			return true
		}
	}
	return false
}

// A partialWriter keeps back what http.ServeContent refuses, so that it becomes a problem like all others: a 412 of its
// own would bear the tag and the life of the answer, and caches would keep it as long.
type partialWriter struct {
	http.ResponseWriter
	refused int // the status of the refusal; 0: none
}

func (w *partialWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *partialWriter) Write(b []byte) (int, error) {
	if w.refused != 0 {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// refusal returns the problem that the refusal of content of that length makes, or nil.
func (w *partialWriter) refusal(length int64) error {
	switch w.refused {
	case 0:
		return nil
	case http.StatusPreconditionFailed:
		return &problem{Status: w.refused, Detail: "If-Match allows none but other versions of this answer."}
	case http.StatusRequestedRangeNotSatisfiable:
		return &problem{
			Status: w.refused,
			Detail: fmt.Sprintf("Range asks for no part of the answer's %d bytes.", length),
			Header: http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", length)}}, // RFC 9110, section 14.4
		}
	}
	return fmt.Errorf("serving content of %d bytes: status %d", length, w.refused)
}
