package blockread

import "io"

// A RangeReader reads n bytes of a file from an offset on, for a block that is decoded as a stream. It marks the errors of the file
// as a [FileError].
type RangeReader struct {
	read  func(p []byte, at int64) error
	at, n int64
}

// NewRangeReader returns a reader of n bytes from offset at on. What it is asked for is read at once.
func NewRangeReader(read func(p []byte, at int64) error, at, n int64) *RangeReader {
	return &RangeReader{read, at, n}
}

// Read implements [io.Reader].
func (r *RangeReader) Read(p []byte) (int, error) {
	if r.n <= 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.n)]
	if err := r.read(p, r.at); err != nil {
		return 0, &FileError{err}
	}
	r.at += int64(len(p))
	r.n -= int64(len(p))
	return len(p), nil
}

// A FileError is an error of a file, not of the data in it.
type FileError struct{ Err error }

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }
