package answer

import "net/http"

// A Writer counts the bytes of an answer, and adds the header fields that only documents need. By Unwrap it keeps the abilities
// of the writer that it wraps for an http.ResponseController. No answer is a file, so that it need not keep sendfile.
type Writer struct {
	http.ResponseWriter
	Status int   // 0 until the final header is written
	Bytes  int64 // of the body

	documentFields *DocumentFields
	document       Document // set before the header is written
	picture        bool     // set before the header is written
	problemPage    ProblemPage
	// In paths of problems, prefix stands for basePath.
	basePath, prefix string
}

// A Document is a sort of answer with header fields of its own.
type Document uint8

// The sorts of documents.
const (
	PlainDocument Document = iota // the page, and all answers without special needs
	EmbedDocument                 // a map to be shown in other sites' pages
	FormDocument                  // a page with a form that leads back to this server
	ImageDocument                 // an SVG, which is an image and nothing else
	Documents                     // how many there are
)

// DocumentFields are the header fields of each sort of document.
type DocumentFields [Documents][]Field

// A Field is a header field. All answers share its value, which must not be changed.
type Field struct {
	Name  string // in the canonical form of net/http
	Value []string
}

// Track returns w as a Writer: itself if it is one, so that the middleware shares it.
func Track(w http.ResponseWriter) *Writer {
	if tw, ok := w.(*Writer); ok {
		return tw
	}
	return &Writer{ResponseWriter: w}
}

// AddToDocuments has w add those fields to the header of an answer that is not a picture.
func (w *Writer) AddToDocuments(fields *DocumentFields) { w.documentFields = fields }

// SendProblemsAs has w send problems to people as pages. The paths in problems begin with prefix in place of basePath.
func (w *Writer) SendProblemsAs(page ProblemPage, basePath, prefix string) {
	w.problemPage, w.basePath, w.prefix = page, basePath, prefix
}

// SetDocument says which sort of document the answer is, even if it becomes a problem.
func SetDocument(w http.ResponseWriter, d Document) {
	if tw, ok := w.(*Writer); ok {
		tw.document = d
	}
}

// setPicture says whether the answer is a picture.
func setPicture(w http.ResponseWriter, picture bool) {
	if tw, ok := w.(*Writer); ok {
		tw.picture = picture
	}
}

// Unwrap serves http.ResponseController.
func (w *Writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader adds the fields of a document and writes the header.
func (w *Writer) WriteHeader(status int) {
	// Informational answers precede the final one, except 101, which is final.
	if w.Status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.Status = status
		if !w.picture && w.documentFields != nil {
			h := w.Header()
			for _, f := range w.documentFields[w.document] {
				h[f.Name] = f.Value
			}
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *Writer) Write(p []byte) (int, error) {
	w.ImplicitOK()
	n, err := w.ResponseWriter.Write(p)
	w.Bytes += int64(n)
	return n, err
}

// FlushError serves http.ResponseController, which would otherwise flush the wrapped writer before the header is complete.
func (w *Writer) FlushError() error {
	w.ImplicitOK()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// ImplicitOK does what net/http does for a handler that writes a body and no header.
func (w *Writer) ImplicitOK() {
	if w.Status == 0 {
		w.WriteHeader(http.StatusOK)
	}
}
