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

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/sync/semaphore"
)

const (
	// maxLists is how many long lists are made and sent at once. Compressed, a list of 1.4 million lakes takes some 60 MB until
	// its client has read it.
	maxLists = 4
	// listWait is how long a request waits to be one of them: long enough for a few lists to be made, and short enough to
	// send its own before the server gives up on the client, after a minute.
	listWait = 20 * time.Second
)

// errTooManyLists is returned when too many long lists are being made.
var errTooManyLists = errors.New("too many long lists are being made")

// Options are the bounds of a [Sender]. A zero field means its default.
type Options struct {
	MaxItems int           // up to how many items a list is made in memory; negative for none
	ListWait time.Duration // how long a request for a longer list waits for its turn
}

// A Sender sends answers. It is safe for concurrent use.
type Sender struct {
	compressor compressor
	maxItems   int
	listWait   time.Duration
	lists      *semaphore.Weighted // bounds how many long lists are made and sent at once
}

// NewSender returns a Sender with those bounds.
func NewSender(opts Options) *Sender {
	return &Sender{
		maxItems: max(cmp.Or(opts.MaxItems, maxItems), 0),
		listWait: cmp.Or(opts.ListWait, listWait),
		lists:    semaphore.NewWeighted(maxLists),
	}
}

// HoldsList reports whether a list of n items is made in memory.
func (s *Sender) HoldsList(n int) bool { return n <= s.maxItems }

// A Source is where the content of one answer comes from: a body, stored bytes, a list, a value or bytes. Send takes the first of
// them that is set; none may be nil. A Source is a struct and no interface, since a value in an interface would be allocated
// for each cached tile.
type Source struct {
	body   *Body
	bytes  []byte
	value  any
	list   *List
	fields *StoredFields // of stored bytes
	coding Coding        // of stored bytes
}

// Prepared is the source of an answer that was compressed in advance.
func Prepared(b *Body) Source { return Source{body: b} }

// Bytes is the source of an answer that was made for this request. It is compressed for it.
func Bytes(content []byte) Source { return Source{bytes: content} }

// JSON is the source of an answer that is v as JSON.
func JSON(v any) Source { return Source{value: v} }

// Items is the source of an answer that is a list made for this request. A long one is written piece by piece, and only a
// few of them at once.
func Items(l List) Source { return Source{list: &l} }

// Stored is the source of an answer that is kept in that coding, Identity or Gzip, such as a cached tile.
func Stored(content []byte, coding Coding, fields *StoredFields) Source {
	return Source{bytes: content, coding: coding, fields: fields}
}

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

// Send answers r with the content of src, in the coding that the client prefers, unless the conditions of the request
// decide otherwise. The error is returned before anything is written.
func (s *Sender) Send(w http.ResponseWriter, r *http.Request, k Kind, src Source) error {
	switch {
	case src.body != nil:
		return sendBody(w, r, k, src.body)
	case src.fields != nil:
		return sendStored(w, r, k, &src)
	case src.list != nil:
		return s.sendList(w, r, k, src.list)
	case src.value != nil:
		content, err := json.Marshal(src.value)
		if err != nil {
			return fmt.Errorf("marshal %T: %w", src.value, err)
		}
		src.bytes = append(content, '\n')
	case src.bytes == nil:
		return errors.New("the source of the answer is nil")
	}
	return s.sendNew(w, r, k, xxhash.Sum64(src.bytes), &variant{content: src.bytes})
}

func sendBody(w http.ResponseWriter, r *http.Request, k Kind, b *Body) error {
	coding := Identity
	if b.compressed() {
		var err error
		if coding, err = chooseCoding(w, r, compressedBefore); err != nil {
			return err
		}
	}
	return send(w, r, k, b.variants[coding])
}

// sendNew answers with plain, whose bytes have that hash, and compresses it for this answer.
func (s *Sender) sendNew(w http.ResponseWriter, r *http.Request, k Kind, hash uint64, plain *variant) error {
	coding := Identity
	if k.compress {
		offer := compressedNow
		if plain.size() < smallBytes {
			offer = small
		}
		var err error
		if coding, err = chooseCoding(w, r, offer); err != nil {
			return err
		}
	}
	plain.etag = []string{etagOf(hash, coding)}
	if coding == Identity || notModified(r, plain.etag[0]) {
		return send(w, r, k, plain)
	}
	z, err := s.compressor.begin(coding, quick, int(plain.size()))
	if err != nil {
		return err
	}
	if err := plain.writeTo(z); err != nil {
		return err
	}
	content, err := z.finish()
	if err != nil {
		return err
	}
	return send(w, r, k, &variant{coding: coding, content: content, etag: plain.etag})
}

func (s *Sender) sendList(w http.ResponseWriter, r *http.Request, k Kind, l *List) error {
	if s.HoldsList(l.Len) {
		content := l.Bytes()
		return s.sendNew(w, r, k, xxhash.Sum64(content), &variant{content: content})
	}
	waiting, cancel := context.WithTimeout(r.Context(), s.listWait)
	defer cancel()
	if err := s.lists.Acquire(waiting, 1); err != nil {
		if r.Context().Err() == nil {
			return errTooManyLists
		}
		return err
	}
	defer s.lists.Release(1)
	p, err := newPieces(*l, io.Discard)
	if err != nil {
		return err
	}
	return s.sendNew(w, r, k, p.hash, &variant{pieces: p})
}

// CheckCoding returns an error if the client accepts neither gzip nor identity, in which an answer from [Stored] can be sent.
// A handler asks it before it makes an expensive answer.
func CheckCoding(r *http.Request) error {
	if _, ok := negotiate(r.Header["Accept-Encoding"], storedGzip); !ok {
		return errNotAcceptable
	}
	return nil
}

func sendStored(w http.ResponseWriter, r *http.Request, k Kind, src *Source) error {
	v := variant{content: src.bytes, etag: src.fields.etag[:], length: src.fields.length[:]}
	if src.coding == Identity {
		return send(w, r, k, &v)
	}
	var err error
	if v.coding, err = chooseCoding(w, r, storedGzip); err != nil {
		return err
	}
	if v.coding == Identity {
		v.etag, v.length = []string{strings.TrimSuffix(v.etag[0], gzipSuffix) + `"`}, nil
		if v.content, err = unzip(src.bytes); err != nil {
			return err
		}
	}
	return send(w, r, k, &v)
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
func send(w http.ResponseWriter, r *http.Request, k Kind, v *variant) error {
	if anotherMatch(r, v.etag[0]) {
		return &Problem{
			Status: http.StatusPreconditionFailed,
			Detail: "If-Match allows only other versions of this answer.",
		}
	}
	h := w.Header()
	h["Etag"] = v.etag
	h["Cache-Control"] = k.cacheControl
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
	if wantsRange(r) {
		return sendRange(w, r, v)
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		// A write fails when the client has left: there is no one to report it to.
		_ = v.writeTo(w)
	}
	return nil
}

// maxRanges bounds how many ranges of an answer are sent at once. A client that resumes a download asks for one, a reader
// of an archive for a few. The header of each part is longer than the request for it, so that thousands would make a small
// request cost a large answer (RFC 9110, section 17.15).
const maxRanges = 16

// wantsRange reports whether r asks for ranges of the answer in a way that is answered: with GET (RFC 9110, section 14.2),
// in bytes, and few ranges. Any other request gets the whole answer.
func wantsRange(r *http.Request) bool {
	ranges := r.Header["Range"]
	return r.Method == http.MethodGet && len(ranges) == 1 &&
		strings.HasPrefix(ranges[0], "bytes=") && strings.Count(ranges[0], ",") < maxRanges
}

// sendRange answers with the ranges of v that r asks for. http.ServeContent sees only If-Range of the conditions of r: the
// others have been checked.
func sendRange(w http.ResponseWriter, r *http.Request, v *variant) error {
	ranged := &http.Request{
		Method: r.Method,
		Header: http.Header{"Range": r.Header["Range"], "If-Range": r.Header["If-Range"]},
	}
	rw := &rangeWriter{ResponseWriter: w}
	http.ServeContent(rw, ranged, "", time.Time{}, v.reader())
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
