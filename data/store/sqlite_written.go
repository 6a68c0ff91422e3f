package store

import (
	"bytes"
	"os"
	"sync"
)

// A program that writes to the database file directly, such as cp, changes nothing but its content and its time. SQLite detects changed pages
// by the log only. SQLite itself writes to the file when it copies the log into it, which changes no data. What it has copied is in the index
// of the log (https://sqlite.org/walformat.html, section 2): so a later time of the file is that of a direct write, unless SQLite has copied
// meanwhile. If both happen within the second between two looks at the file, the direct write is not found; whoever replaces the content of a
// database in use should do it with limnomap backup or with mv.

// writes are the writes to a database file that are known.
type writes struct {
	mu       sync.Mutex
	known    bool
	modified int64 // the time of the file, in nanoseconds since 1970
	copied   logCopied
}

// forget makes the next writtenTo the first one.
func (w *writes) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known = false
}

// A logCopied is how much of which log was copied into the file, in the bytes of the log's index; empty if that is not known.
type logCopied struct {
	salt            [8]byte // of the log: another one when it begins anew
	done, attempted [4]byte // frames
}

// The places of a logCopied in the index of a log, and the bytes up to the last of them. The index begins with two equal headers of 48 bytes.
const (
	saltAt, doneAt, attemptedAt = 32, 96, 128
	logIndexBytes               = attemptedAt + 4
)

func readLogCopied(index string) (c logCopied, ok bool) {
	f, err := os.Open(index)
	if err != nil {
		return c, false
	}
	defer f.Close()
	var b [logIndexBytes]byte
	if n, err := f.ReadAt(b[:], 0); n < len(b) || err != nil {
		return c, false
	}
	copy(c.salt[:], b[saltAt:])
	copy(c.done[:], b[doneAt:])
	copy(c.attempted[:], b[attemptedAt:])
	return c, true
}

// underWay reports whether SQLite is copying, or was killed while it did and has not copied again since.
func (c *logCopied) underWay() bool { return !bytes.Equal(c.done[:], c.attempted[:]) }

// writtenTo reports whether the file was written to directly since the last call.
func (s *sqlite) writtenTo() bool {
	w := &s.writes
	w.mu.Lock()
	defer w.mu.Unlock()
	index := s.loc.path + fileEnds[2]
	copied, ok := readLogCopied(index)
	info, err := os.Stat(s.loc.path)
	if err != nil {
		return false // the next use reports it
	}
	if after, _ := readLogCopied(index); after != copied {
		return false // SQLite began or ended to copy: the next call sees both or none
	}
	modified := info.ModTime().UnixNano()
	direct := w.known && modified != w.modified && (!ok || copied == w.copied && !copied.underWay())
	w.known, w.modified, w.copied = true, modified, copied
	return direct
}
