package answer

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
)

// sendMade sends an answer that was made for r. Until it is sent, its memory counts.
func (s *Sender) sendMade(w http.ResponseWriter, r *http.Request, k Kind, v *variant) error {
	n := v.memory()
	if n <= smallHold {
		return send(w, r, k, v, atOnce)
	}
	hold, err := s.options.Memory.Hold(ClientOf(r), n)
	if err != nil {
		return err
	}
	defer hold.Release()
	return send(w, r, k, v, s.inTurn(r))
}

// SendList answers r with a list of at most n items that is made for it: a long one when it is the client's turn, and it is written piece by
// piece.
func (s *Sender) SendList(w http.ResponseWriter, r *http.Request, k Kind, n int, list func() List) error {
	hold, err := s.options.Memory.Hold(ClientOf(r), smallHold)
	if err != nil {
		return err
	}
	defer hold.Release()
	var v *variant
	build := func() (err error) {
		if v, err = s.makeList(w, r, k, list()); err != nil {
			return err
		}
		return hold.Resize(v.memory())
	}
	if s.HoldsList(n) {
		err = build()
	} else {
		ctx, cancel := Waiting(r, s.options.TurnWait)
		defer cancel()
		err = s.options.Turns.DoLong(ctx, ClientOf(r), time.Duration(n)*itemTime, build)
	}
	if err != nil {
		return err
	}
	return send(w, r, k, v, s.inTurn(r))
}

// makeList makes a list in the coding that r prefers.
func (s *Sender) makeList(w http.ResponseWriter, r *http.Request, k Kind, l List) (*variant, error) {
	if s.HoldsList(l.Len) {
		return s.makeBytes(w, r, k, l.Bytes())
	}
	coding, err := chooseMade(w, r, k, compressedLong)
	if err != nil {
		return nil, err
	}
	if coding == Identity || len(r.Header["If-None-Match"]) > 0 {
		p, err := newPieces(r.Context(), l, io.Discard)
		if err != nil {
			return nil, err
		}
		plain := &variant{pieces: p, etag: []string{etagOf(p.hash, coding)}}
		if coding == Identity || notModified(r, plain.etag[0]) {
			return plain, nil
		}
	}
	var p *pieces
	forms, err := s.compress([]Coding{coding}, quick, l.estimate(), Sizes{}, func(w io.Writer) (err error) {
		p, err = newPieces(r.Context(), l, w)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &variant{coding: coding, content: forms[coding], etag: []string{etagOf(p.hash, coding)}}, nil
}

// makeBytes compresses content, if r prefers that and does not have it already.
func (s *Sender) makeBytes(w http.ResponseWriter, r *http.Request, k Kind, content []byte) (*variant, error) {
	offer := compressedNow
	if len(content) < smallBytes {
		offer = small
	}
	coding, err := chooseMade(w, r, k, offer)
	if err != nil {
		return nil, err
	}
	plain := &variant{content: content, etag: []string{etagOf(xxhash.Sum64(content), coding)}}
	if coding == Identity || notModified(r, plain.etag[0]) {
		return plain, nil
	}
	forms, err := s.compress([]Coding{coding}, quick, len(content), Sizes{}, writing(content))
	if err != nil {
		return nil, err
	}
	return &variant{coding: coding, content: forms[coding], etag: plain.etag}, nil
}

// chooseMade returns the coding of an answer of kind k that is made for r.
func chooseMade(w http.ResponseWriter, r *http.Request, k Kind, offer []Coding) (Coding, error) {
	if !k.compress {
		return Identity, nil
	}
	return chooseCoding(w, r, offer)
}

// clip returns b in no more memory than it needs, or a little more.
func clip(b []byte) []byte {
	if spare := cap(b) - len(b); spare > len(b)/16 {
		return slices.Clip(bytes.Clone(b))
	}
	return b
}

// InTurn runs f, which goes through n items to answer r: at once if they are few, otherwise when the client has a turn. The
// error is f's or [admission.ErrBusy].
func (s *Sender) InTurn(r *http.Request, n int, f func() error) error {
	if s.HoldsList(n) {
		return f()
	}
	return s.inTurn(r)(f)
}

// itemTime is about how long it takes to make an item of a list, and to compress it.
const itemTime = 3 * time.Microsecond

// inTurn returns what runs a function when the client that sent r has a turn.
func (s *Sender) inTurn(r *http.Request) inTurn {
	return func(f func() error) error {
		ctx, cancel := Waiting(r, s.options.TurnWait)
		defer cancel()
		return s.options.Turns.Do(ctx, ClientOf(r), f)
	}
}
