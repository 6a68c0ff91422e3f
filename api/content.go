package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// sendContent answers with v, which is in coding e, unless the conditions of the request decide otherwise. They come in
// the order of RFC 9110, section 13.2.2; those that name a time are ignored, since no answer says when it was modified.
func sendContent(w http.ResponseWriter, r *http.Request, k kind, e encoding, v *variant) error {
	if anotherMatch(r, v.etag[0]) {
		return &problem{
			Status: http.StatusPreconditionFailed,
			Detail: "If-Match allows none but other versions of this answer.",
		}
	}
	h := w.Header()
	h["Etag"] = v.etag
	h["Cache-Control"] = k.cacheControl
	setPicture(w, k.picture)
	if k.ages {
		setAge(h, r)
	}
	if notModified(r, v.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h["Content-Type"] = k.contentType
	if e != identity {
		h["Content-Encoding"] = encodingNames[e][:]
	}
	length := v.length
	if length == nil {
		length = []string{strconv.FormatInt(v.size(), 10)}
	}
	h["Content-Length"] = length
	h["Accept-Ranges"] = byteRanges
	if wantsPart(r) {
		return sendPart(w, r, v)
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// A failed write means that the client left, and nobody is there to be told.
		_ = writeTogether(r, func() error {
			_, err := v.writeTo(w)
			return err
		})
	}
	return nil
}

// maxRanges bounds how many parts of an answer are sent at once. Whoever resumes a download asks for one, a reader of an
// archive for a few; the frame of each is longer than the words that ask for it, so that thousands would make a small
// request cost a large answer (RFC 9110, section 17.15).
const maxRanges = 16

// wantsPart reports whether r asks for a part of the answer, in a way that is to be heeded: with GET (RFC 9110, section
// 14.2), in bytes, and in few ranges. Everybody else gets the whole.
func wantsPart(r *http.Request) bool {
	ranges := r.Header["Range"]
	return r.Method == http.MethodGet && len(ranges) == 1 &&
		strings.HasPrefix(ranges[0], "bytes=") && strings.Count(ranges[0], ",") < maxRanges
}

// sendPart answers with the part of v that r asks for. Of the conditions that r may hold http.ServeContent is shown
// If-Range alone: the others are decided, and of a field in several lines it reads but the first.
func sendPart(w http.ResponseWriter, r *http.Request, v *variant) error {
	part := &http.Request{
		Method: r.Method,
		Header: http.Header{"Range": r.Header["Range"], "If-Range": r.Header["If-Range"]},
	}
	pw := &partialWriter{ResponseWriter: w}
	http.ServeContent(pw, part, "", time.Time{}, v.reader())
	return pw.refusal(v.size())
}

// A partialWriter keeps back what http.ServeContent refuses, so that it becomes a problem like all others.
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
	case http.StatusRequestedRangeNotSatisfiable:
		return &problem{
			Status: w.refused,
			Detail: fmt.Sprintf("Range asks for no part of the answer's %d bytes.", length),
			Header: http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", length)}}, // RFC 9110, section 14.4
		}
	}
	return fmt.Errorf("serving content of %d bytes: status %d", length, w.refused)
}
