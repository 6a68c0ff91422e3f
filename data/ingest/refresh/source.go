package refresh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/diskspace"
	"limnomap/data/ingest"
	"limnomap/data/ingest/rangefile"
	"limnomap/data/ingest/satellite"
)

// maxFiles bounds the files of a source.
const maxFiles = 1000

// A source is where files come from: a folder, or the one file of a URL.
type source struct {
	folder string   // empty for a URL
	url    *url.URL // nil for a folder

	satellite *satellite.Options  // for its satellite files; nil means the defaults
	table     *ingest.TableFormat // of its tables; nil means that it is detected
}

// parseSource parses a value of --from.
func parseSource(from string) (source, error) {
	scheme, _, isURL := strings.Cut(from, "://")
	if !isURL {
		info, err := os.Stat(from)
		switch {
		case from == "":
			return source{}, fmt.Errorf("the source is empty: want a folder or an http:// or https:// URL")
		case err != nil:
			return source{}, err
		case !info.IsDir():
			return source{}, fmt.Errorf("%s is not a folder: want a folder, or an http:// or https:// URL", from)
		}
		folder, err := filepath.Abs(from)
		return source{folder: folder}, err
	}
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// Without the URL, which may contain a password.
		return source{}, fmt.Errorf("the source %.10q://... is not an http:// or https:// URL: want such a URL, or a folder", scheme)
	}
	u.Fragment, u.RawFragment = "", ""
	return source{url: u}, nil
}

func (p source) String() string {
	if p.url == nil {
		return p.folder
	}
	return rangefile.Redacted(p.url)
}

// keyOf returns the key of a file by its full name, without a password, which could be guessed from the hash.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func (p source) key() string {
	u := *p.url
	u.User = nil
	return keyOf(u.String())
}

// tableKey returns the key of a table with the settings of its source: with other settings it is another file, to be read again.
func (p source) tableKey(key string) string {
	if p.table == nil {
		return key
	}
	if settings := fmt.Sprintf("%q", *p.table); settings != fmt.Sprintf("%q", ingest.TableFormat{}) {
		return keyOf(key + settings)
	}
	return key
}

// A file is a complete, open file of a source.
type file struct {
	data.RefreshFile
	name string // for operators
	size int64
	*os.File
	temp *diskspace.Temp // of a download

	table *ingest.TableFormat
}

func (f *file) Close() error {
	if f.temp != nil {
		return f.temp.Close()
	}
	return f.File.Close()
}

// A fileSet holds open files.
type fileSet []*file

// bytes returns the size of the files together.
func (s fileSet) bytes() int64 {
	total := int64(0)
	for _, f := range s {
		total += f.size
	}
	return total
}

func (s fileSet) close() {
	for _, f := range s {
		f.Close()
	}
}

// known returns what the database stores of the files, in order of key.
func (s fileSet) known() []data.RefreshFile {
	known := make([]data.RefreshFile, 0, len(s))
	for _, f := range s {
		known = append(known, f.RefreshFile)
	}
	slices.SortFunc(known, func(a, b data.RefreshFile) int { return strings.Compare(a.Key, b.Key) })
	return known
}

// sameContent reports whether the files have the same content as those stored before.
func (s fileSet) sameContent(before []data.RefreshFile) bool {
	return slices.EqualFunc(s.known(), before, func(a, b data.RefreshFile) bool { return a.Key == b.Key && a.SHA256 == b.SHA256 })
}

func (s fileSet) inputs() []ingest.File {
	var files []ingest.File
	for _, f := range s {
		files = append(files, ingest.File{Name: f.name, Open: f.open, Table: f.table})
	}
	return files
}

// open returns the file's content from the beginning.
func (f *file) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(f.File, 0, f.size)), nil
}

// unchanged returns a fault if the content of f is not the same as when its checksum was computed. Others may write to files
// in a folder: if the content is the same before and after the import, it was the same during it.
func (f *file) unchanged(ctx context.Context) error {
	sum, size, err := digestFile(ctx, f.File)
	if err != nil {
		return fault(folderReason, "%s: %w", f.name, err)
	}
	if sum != f.SHA256 || size != f.size {
		return fault(changingReason, "%s changed while it was read: write it under another name and rename it", f.name)
	}
	return nil
}

// digestFile reads all of a file.
func digestFile(ctx context.Context, f *os.File) (sum [sha256.Size]byte, size int64, err error) {
	h := sha256.New()
	whole := io.NewSectionReader(f, 0, 1<<62)
	size, err = io.Copy(h, contextReader{ctx, whole})
	return [sha256.Size]byte(h.Sum(nil)), size, err
}

// A contextReader fails when its context ends.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
