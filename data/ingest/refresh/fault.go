package refresh

import (
	"errors"
	"fmt"

	"limnomap/data"
)

// A Fault is the error of a refresh.
type Fault struct {
	// Reason is the cause in a few words for the public. It contains no address, path, password or other detail.
	Reason string
	err    error
}

// The reasons of faults. Servers show them to the public.
const (
	awayReason        = "the source cannot be reached"
	timeoutReason     = "the source takes too long to answer"
	paceReason        = "a download was ended because the source is too slow"
	answerReason      = "the source gives no file"
	redirectReason    = "the source redirects to an address that is not allowed"
	cutReason         = "a file was received incompletely"
	sizeReason        = "the files are larger than allowed"
	checksumReason    = "a checksum is wrong"
	noChecksumReason  = "a checksum is missing"
	folderReason      = "the source's folder cannot be read"
	emptyReason       = "the source has no file"
	changingReason    = "a file changed while it was read"
	formReason        = "a file is not in a known format"
	rowsReason        = "rows were rejected"
	repeatsReason     = "too many rows are repeated"
	slowReason        = "the import takes too long"
	diskReason        = "a temporary file could not be written"
	storeReason       = "the database could not be written"
	claimReason       = "another process has taken over"
	interruptedReason = "the refresh was interrupted"
	noLakesReason     = "the database has no lakes"
	catalogueReason   = "a list of satellite files has no address that can be used"
)

func fault(reason string, format string, args ...any) error {
	return &Fault{reason, fmt.Errorf(format, args...)}
}

func (f *Fault) Error() string { return f.err.Error() }

func (f *Fault) Unwrap() error { return f.err }

// reasonOf returns the public reason of err.
func reasonOf(err error) string {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f.Reason
	}
	if errors.Is(err, data.ErrLeaseLost) {
		return claimReason
	}
	return storeReason // all other errors are faults
}
