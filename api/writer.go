package api

import (
	"io"
	"net/http"
)

// A trackedWriter counts what passes through it. It keeps the abilities of the writer beneath: sendfile by ReadFrom,
// flushing, and by Unwrap whatever an http.ResponseController asks for.
type trackedWriter struct {
	http.ResponseWriter
	status int // 0 until the final header is written
	bytes  int64

	documents *documentFields // of securityHeaders: what every answer bears that is not a picture
	document  documentKind    // which of them; said by the handler, before it writes the header
	picture   bool            // said by the handler, before it writes the header
}

// A field is one header field, its value in the form that a header takes. All answers share it, and nobody changes it.
type field struct {
	name  string // in the canonical form of net/http
	value []string
}

// track returns w as a trackedWriter: itself if it is one, so that the middleware share it.
func track(w http.ResponseWriter) *trackedWriter {
	if tw, ok := w.(*trackedWriter); ok {
		return tw
	}
	return &trackedWriter{ResponseWriter: w}
}

// setPicture says whether the answer that w is about to begin is a picture.
func setPicture(w http.ResponseWriter, picture bool) {
	if tw, ok := w.(*trackedWriter); ok {
		tw.picture = picture
	}
}

// setDocument says which sort of document the answer is that w is about to begin, also if it becomes a problem.
func setDocument(w http.ResponseWriter, d documentKind) {
	if tw, ok := w.(*trackedWriter); ok {
		tw.document = d
	}
}

// Unwrap serves http.ResponseController.
func (w *trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *trackedWriter) WriteHeader(status int) {
	// Informational answers precede the final one, except 101, which is final.
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
		if !w.picture && w.documents != nil {
			h := w.Header()
			for _, f := range w.documents[w.document] {
				h[f.name] = f.value
			}
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *trackedWriter) Write(p []byte) (int, error) {
	w.implicitOK()
	n, err := w.ResponseWriter.Write(p)
	w.bytes += int64(n)
	return n, err
}

// WriteString saves io.WriteString the copy of its argument.
func (w *trackedWriter) WriteString(s string) (int, error) {
	w.implicitOK()
	n, err := io.WriteString(w.ResponseWriter, s)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets a file reach the socket without passing through this process, where the writer beneath can do that.
func (w *trackedWriter) ReadFrom(src io.Reader) (int64, error) {
	w.implicitOK()
	n, err := io.Copy(w.ResponseWriter, src)
	w.bytes += n
	return n, err
}

// FlushError serves http.ResponseController, which prefers it to Flush.
func (w *trackedWriter) FlushError() error {
	w.implicitOK()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush serves handlers that ask for an http.Flusher. It has no way to tell of an error, and the next write will.
func (w *trackedWriter) Flush() { _ = w.FlushError() }

// implicitOK does what net/http does for a handler that writes a body and no header.
func (w *trackedWriter) implicitOK() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}
