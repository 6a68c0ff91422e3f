package answer

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// numbers is a list of n multiples of step.
func numbers(n, step int) List {
	return List{
		Head:    []byte(`{"numbers":[`),
		Append:  func(b []byte, i int) []byte { return fmt.Append(b, i*step) },
		Between: ",",
		Tail:    "]}\n",
		Len:     n,
	}
}

// TestPiecesAreReadFromAnyOffset compares lists of up to a few pieces with the same list made at once.
func TestPiecesAreReadFromAnyOffset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(pieceItems-1, pieceItems+1), rapid.IntRange(0, 4*pieceItems)).Draw(t, "items")
		step := rapid.IntRange(1, 3).Draw(t, "step")
		var each []string
		for i := range n {
			each = append(each, fmt.Sprint(i*step))
		}
		want := `{"numbers":[` + strings.Join(each, ",") + "]}\n"
		if got := numbers(n, step).Bytes(); string(got) != want {
			t.Fatalf("Bytes() = %q, want %q", got, want)
		}
		var written bytes.Buffer
		p, err := newPieces(t.Context(), numbers(n, step), &written)
		if err != nil {
			t.Fatal(err)
		}
		if written.String() != want || p.size() != int64(len(want)) {
			t.Fatalf("newPieces wrote %d bytes and has size %d, want %d", written.Len(), p.size(), len(want))
		}
		r := (&madePieces{pieces: p, turn: atOnce}).reader()
		for range 3 {
			at := rapid.IntRange(0, len(want)).Draw(t, "at")
			if _, err := r.Seek(int64(at), io.SeekStart); err != nil {
				t.Fatal(err)
			}
			length := rapid.IntRange(0, len(want)-at).Draw(t, "length")
			got := make([]byte, length)
			if _, err := io.ReadFull(r, got); err != nil || string(got) != want[at:at+length] {
				t.Fatalf("%d bytes from %d = %q, %v, want %q", length, at, got, err, want[at:at+length])
			}
			var rest bytes.Buffer
			if _, err := io.Copy(&rest, r); err != nil || rest.String() != want[at+length:] {
				t.Fatalf("the rest from %d = %d bytes, %v, want %d", at+length, rest.Len(), err, len(want)-at-length)
			}
		}
	})
}

func TestPiecesAreAReadSeeker(t *testing.T) {
	var written bytes.Buffer
	p, err := newPieces(t.Context(), numbers(2*pieceItems+1, 1), &written)
	if err != nil {
		t.Fatal(err)
	}
	if err := iotest.TestReader((&madePieces{pieces: p, turn: atOnce}).reader(), written.Bytes()); err != nil {
		t.Error(err)
	}
}
