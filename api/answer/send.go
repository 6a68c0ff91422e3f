package answer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"limnomap/tiles/admission"
)

const (
	// turnWait is how long a request waits for its turn to make a long list: long enough for a few lists to be made, and short
	// enough to send its own before the server gives up on the client, after a minute.
	turnWait = 20 * time.Second
	// smallHold is up to how many bytes an answer is part of what each request costs, and what one for a list holds while it waits for its turn.
	smallHold = 8 << 10
)

// errNoTurn is returned when the turn of a client has not come for too long.
var errNoTurn = fmt.Errorf("no turn came in time: %w", admission.ErrBusy)

// Waiting returns a context in which a request waits for its turn for that time. After it the error is [admission.ErrBusy].
func Waiting(r *http.Request, wait time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(r.Context(), wait, errNoTurn)
}

// Options are the bounds of a [Sender]. A zero field means its default, except for Memory and Turns, which are required.
type Options struct {
	// Memory bounds the answers that are made for one request, all together, from when they are made until they are sent.
	Memory *admission.Budget
	// Turns bound how many long lists are made at once.
	Turns *admission.Turns

	TurnWait  time.Duration // how long a request waits for its turn
	HeldItems int           // up to how many items the plain form of a list is held; negative for none
}

// A Sender sends answers. It is safe for concurrent use.
type Sender struct {
	compressor compressor
	options    Options
}

// NewSender returns a Sender with those bounds.
func NewSender(o Options) *Sender {
	o.TurnWait = cmp.Or(o.TurnWait, turnWait)
	o.HeldItems = max(cmp.Or(o.HeldItems, heldItems), 0)
	return &Sender{options: o}
}

// HoldsList reports whether the plain form of a list of n items is held.
func (s *Sender) HoldsList(n int) bool { return n <= s.options.HeldItems }

// StoredFields are header fields of stored content. They are kept with it, so that sending it allocates nothing.
type StoredFields struct{ etag, length [1]string }

// gzipSuffix ends the entity tag of the compressed form of stored content.
const gzipSuffix = `-gzip"`

// NewStoredFields returns the fields of content that is kept in that coding under that entity tag, which is given without
// quotes.
func NewStoredFields(content []byte, coding Coding, etag string) *StoredFields {
	fields := &StoredFields{length: [1]string{strconv.Itoa(len(content))}}
	if fields.etag[0] = `"` + etag + `"`; coding == Gzip {
		fields.etag[0] = `"` + etag + gzipSuffix
	}
	return fields
}

// SendBytes answers r with content that was made for it, in the coding that the client prefers. An empty answer would be kept by caches: nil
// content is an error.
func (s *Sender) SendBytes(w http.ResponseWriter, r *http.Request, k Kind, content []byte) error {
	if content == nil {
		return errors.New("the content of the answer is nil")
	}
	v, err := s.makeBytes(w, r, k, content)
	if err != nil {
		return err
	}
	return s.sendMade(w, r, k, v)
}

// SendJSON answers r with v as JSON.
func (s *Sender) SendJSON(w http.ResponseWriter, r *http.Request, k Kind, v any) error {
	content, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("marshal %T: %w", v, err)
	}
	return s.SendBytes(w, r, k, append(content, '\n'))
}

// SendBody answers r with content that was compressed in advance.
func (s *Sender) SendBody(w http.ResponseWriter, r *http.Request, k Kind, b *Body) error {
	coding := Identity
	if offer := b.offer(); offer != nil {
		var err error
		if coding, err = chooseCoding(w, r, offer); err != nil {
			return err
		}
	}
	v := b.variants[coding]
	if v.pieces != nil { // they are made for this request
		return s.sendMade(w, r, k, v)
	}
	return send(w, r, k, v, atOnce)
}

// CheckCoding returns an error if the client accepts neither gzip nor identity, in which [Sender.SendStored] can answer.
// A handler asks it before it makes an expensive answer.
func CheckCoding(r *http.Request) error {
	if _, ok := negotiate(r.Header["Accept-Encoding"], storedGzip); !ok {
		return errNotAcceptable
	}
	return nil
}

// SendStored answers r with content that is kept in that coding, Identity or Gzip, such as a cached tile.
func (s *Sender) SendStored(w http.ResponseWriter, r *http.Request, k Kind, content []byte, coding Coding, fields *StoredFields) error {
	v := variant{content: content, etag: fields.etag[:], length: fields.length[:]}
	if coding == Identity {
		return send(w, r, k, &v, atOnce)
	}
	var err error
	if v.coding, err = chooseCoding(w, r, storedGzip); err != nil {
		return err
	}
	if v.coding != Identity {
		return send(w, r, k, &v, atOnce)
	}
	v.etag, v.length = []string{strings.TrimSuffix(v.etag[0], gzipSuffix) + `"`}, nil
	if v.content, err = unzip(content); err != nil {
		return err
	}
	return s.sendMade(w, r, k, &v)
}

func unzip(b []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("decompress stored content: %w", err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("decompress stored content: %w", err)
	}
	return content, nil
}

var byteRanges = []string{"bytes"}

// send answers with v unless the conditions of the request decide otherwise. They are checked in the order of RFC 9110,
// section 13.2.2. Those with a time are ignored, since no answer says when it was modified.
//
// It leaves only ranges to http.ServeContent, which reads only the first line of If-None-Match, answers 412 and 416 in
// plain text, and copies the content through a buffer: for a tile of 12 kB that takes 1.2 times as long, with 10 more
// allocations of 12 kB in all (BenchmarkSend).
//
// The pieces of a list are made in turns, if it is one.
func send(w http.ResponseWriter, r *http.Request, k Kind, v *variant, turn inTurn) error {
	if anotherMatch(r, v.etag[0]) {
		return &Problem{
			Status: http.StatusPreconditionFailed,
			Detail: "If-Match allows only other versions of this answer.",
		}
	}
	h := w.Header()
	h["Etag"] = v.etag
	h["Cache-Control"] = k.cacheControl
	if left := InfoOf(r).TrueFor; left > 0 {
		h["Cache-Control"] = k.cacheControlFor(left)
	}
	setPicture(w, k.picture)
	if k.ages {
		if info := InfoOf(r); info.Age[0] != "" {
			h["Age"] = info.Age[:]
		}
	}
	if notModified(r, v.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h["Content-Type"] = k.contentType
	if v.coding != Identity {
		h["Content-Encoding"] = codingNames[v.coding][:]
	}
	length := v.length
	if length == nil {
		length = []string{strconv.FormatInt(v.size(), 10)}
	}
	h["Content-Length"] = length
	h["Accept-Ranges"] = byteRanges
	if wantsRange(r, v) {
		return sendRange(w, r, v, turn)
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	// A write fails when the client has left: there is no one to report it to.
	if v.pieces == nil {
		_, _ = w.Write(v.content)
		return nil
	}
	made := &madePieces{pieces: v.pieces, turn: turn}
	_, _ = io.Copy(w, made.reader())
	made.abortIfIncomplete()
	return nil
}

// maxRanges bounds how many ranges of an answer are sent at once. A client that resumes a download asks for one, a reader
// of an archive for a few. The header of each part is longer than the request for it, so that thousands would make a small
// request cost a large answer (RFC 9110, section 17.15).
const maxRanges = 16

// wantsRange reports whether r asks for ranges of the answer in a way that is answered: with GET (RFC 9110, section 14.2),
// in bytes, and few ranges. Any other request gets the whole answer. Of a list that is made in pieces only one range is
// answered, since http.ServeContent reads several on a goroutine of its own.
func wantsRange(r *http.Request, v *variant) bool {
	most := maxRanges
	if v.pieces != nil {
		most = 1
	}
	ranges := r.Header["Range"]
	return r.Method == http.MethodGet && len(ranges) == 1 &&
		strings.HasPrefix(ranges[0], "bytes=") && strings.Count(ranges[0], ",") < most
}

// sendRange answers with the ranges of v that r asks for. http.ServeContent sees only If-Range of the conditions of r: the
// others have been checked.
func sendRange(w http.ResponseWriter, r *http.Request, v *variant, turn inTurn) error {
	ranged := &http.Request{
		Method: r.Method,
		Header: http.Header{"Range": r.Header["Range"], "If-Range": r.Header["If-Range"]},
	}
	rw := &rangeWriter{ResponseWriter: w}
	if v.pieces == nil {
		http.ServeContent(rw, ranged, "", time.Time{}, bytes.NewReader(v.content))
		return rw.problem(v.size())
	}
	made := &madePieces{pieces: v.pieces, turn: turn}
	http.ServeContent(rw, ranged, "", time.Time{}, made.reader())
	made.abortIfIncomplete()
	return rw.problem(v.size())
}

// A rangeWriter holds back the error that http.ServeContent writes, so that it becomes a problem like all others.
type rangeWriter struct {
	http.ResponseWriter
	refused int // the status of the error; 0: none
}

func (w *rangeWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *rangeWriter) Write(b []byte) (int, error) {
	if w.refused != 0 {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}

// problem returns the error as a problem, for content of that length, or nil.
func (w *rangeWriter) problem(length int64) error {
	switch w.refused {
	case 0:
		return nil
	case http.StatusRequestedRangeNotSatisfiable:
		return &Problem{
			Status: w.refused,
			Detail: fmt.Sprintf("Range asks for no part of the answer's %d bytes.", length),
			Header: http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", length)}}, // RFC 9110, section 14.4
		}
	}
	return fmt.Errorf("serving content of %d bytes: status %d", length, w.refused)
}
