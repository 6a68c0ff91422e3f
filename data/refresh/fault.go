package refresh

import (
	"errors"
	"fmt"

	"limnomap/data/store"
)

// A Fault is why a refresh failed.
type Fault struct {
	// Reason is a few words for anybody to read. It holds no address, path, password or other detail.
	Reason string
	err    error
}

// The reasons of faults. They are part of what a server shows to everybody.
const (
	awayReason        = "the source cannot be reached"
	timeoutReason     = "the source takes too long to answer"
	answerReason      = "the source gives no file"
	redirectReason    = "the source redirects to where it may not"
	cutReason         = "a file did not come whole"
	sizeReason        = "a file is larger than allowed"
	checksumReason    = "a checksum is wrong"
	noChecksumReason  = "a checksum is missing"
	folderReason      = "the source's folder cannot be read"
	emptyReason       = "the source has no file"
	changingReason    = "a file changed while it was read"
	formReason        = "a file cannot be understood"
	rowsReason        = "rows were rejected"
	diskReason        = "a file could not be kept for reading"
	storeReason       = "the database could not be written"
	claimReason       = "another process has taken over"
	interruptedReason = "it was interrupted"
)

func fault(reason string, format string, args ...any) error {
	return &Fault{reason, fmt.Errorf(format, args...)}
}

func (f *Fault) Error() string { return f.err.Error() }

func (f *Fault) Unwrap() error { return f.err }

// reasonOf returns what may be told of err to everybody.
func reasonOf(err error) string {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Reason
	}
	if errors.Is(err, store.ErrClaimLost) {
		return claimReason
	}
	return storeReason // of all that a refresh does, only the database's errors are no faults
}
