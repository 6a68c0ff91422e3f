package store

import (
	"encoding/binary"
	"os"
	"slices"
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
	index    *indexFile // nil before it is needed
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

// close must be called after the connections to the database are closed.
func (w *writes) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.index != nil {
		w.index.release()
		w.index = nil
	}
}

// An indexFile is the index of a log that is open for reading. It stays open for as long as any store of this process uses the database: closing
// any descriptor of a file ends all locks that the process has on it (POSIX), and so those of SQLite. Another process would then believe that no
// one uses the index, and empty it under the readers (https://sqlite.org/howtocorrupt.html, section 2.2).
type indexFile struct {
	files []*os.File // all of one file, the first is read
	info  os.FileInfo
	users int
}

var indexFiles struct {
	sync.Mutex
	open []*indexFile
}

// openIndex opens the index of a log.
func openIndex(path string) (*indexFile, error) {
	indexFiles.Lock()
	defer indexFiles.Unlock()
	find := func(info os.FileInfo) *indexFile {
		for _, f := range indexFiles.open {
			if os.SameFile(f.info, info) {
				f.users++
				return f
			}
		}
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		if f := find(info); f != nil {
			return f, nil
		}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err // file stays open: it may be the index of another store
	}
	if f := find(info); f != nil { // it was made meanwhile; file must not be closed before the others
		f.files = append(f.files, file)
		return f, nil
	}
	f := &indexFile{files: []*os.File{file}, info: info, users: 1}
	indexFiles.open = append(indexFiles.open, f)
	return f, nil
}

func (f *indexFile) release() {
	indexFiles.Lock()
	defer indexFiles.Unlock()
	if f.users--; f.users > 0 {
		return
	}
	for _, file := range f.files {
		_ = file.Close() // it was only read
	}
	indexFiles.open = slices.DeleteFunc(indexFiles.open, func(other *indexFile) bool { return other == f })
}

// A logCopied is how much of which log was copied into the file, in the bytes of the log's index; empty if that is not known.
type logCopied struct {
	commits         [4]byte // a counter
	salt            [8]byte // of the log: another one when it begins anew
	frames          [4]byte // how many the log has
	done, attempted [4]byte // how many of them were copied
}

// The places of a logCopied in the index of a log, and the bytes up to the last of them. The index begins with two equal headers of 48 bytes.
const (
	commitsAt, framesAt, saltAt, doneAt, attemptedAt = 8, 16, 32, 96, 128
	logIndexBytes                                    = attemptedAt + 4
)

func (w *writes) readLogCopied(path string) (c logCopied, ok bool) {
	if w.index == nil {
		var err error
		if w.index, err = openIndex(path); err != nil {
			w.index = nil
			return c, false
		}
	}
	var b [logIndexBytes]byte
	if n, err := w.index.files[0].ReadAt(b[:], 0); n < len(b) || err != nil {
		return c, false
	}
	copy(c.salt[:], b[saltAt:])
	copy(c.commits[:], b[commitsAt:])
	copy(c.frames[:], b[framesAt:])
	copy(c.done[:], b[doneAt:])
	copy(c.attempted[:], b[attemptedAt:])
	return c, true
}

// underWay reports whether SQLite is copying, or was killed while it did and has not copied again since.
func (c *logCopied) underWay() bool { return c.done != c.attempted }

// copiedSince reports whether SQLite may have copied frames into the file since before. A log begins anew only when all of the last one was copied;
// if one commit has done that since, and the new log still has its frames, there was nothing to copy.
func (c *logCopied) copiedSince(before logCopied) bool {
	switch {
	case c.underWay():
		return true
	case c.salt == before.salt:
		return c.done != before.done
	}
	var none [4]byte
	oneCommit := binary.NativeEndian.Uint32(c.commits[:]) == binary.NativeEndian.Uint32(before.commits[:])+1
	return before.done != before.frames || !oneCommit || c.frames == none || c.done != none
}

// writtenTo reports whether the file was written to directly since the last call.
func (s *sqlite) writtenTo() bool {
	w := &s.writes
	w.mu.Lock()
	defer w.mu.Unlock()
	index := s.loc.path + fileEnds[2]
	copied, ok := w.readLogCopied(index)
	info, err := os.Stat(s.loc.path)
	if err != nil {
		return false // the next use reports it
	}
	if after, _ := w.readLogCopied(index); after != copied {
		return false // SQLite has committed or copied meanwhile: the next call sees both or none
	}
	modified := info.ModTime().UnixNano()
	direct := w.known && modified != w.modified && (!ok || !copied.copiedSince(w.copied))
	w.known, w.modified, w.copied = true, modified, copied
	return direct
}
