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
	"limnomap/data/ingest"
)

// maxFiles bounds the files of a source.
const maxFiles = 1000

// A place is where files come from: a folder, or the one file of a URL.
type place struct {
	folder string   // empty for a URL
	url    *url.URL // nil for a folder
}

// parsePlace reads what --from says.
func parsePlace(from string) (place, error) {
	scheme, _, isURL := strings.Cut(from, "://")
	if !isURL {
		info, err := os.Stat(from)
		switch {
		case from == "":
			return place{}, fmt.Errorf("the source is empty: want a folder or an http:// or https:// URL")
		case err != nil:
			return place{}, err
		case !info.IsDir():
			return place{}, fmt.Errorf("%s is no folder: want one, or an http:// or https:// URL", from)
		}
		folder, err := filepath.Abs(from)
		return place{folder: folder}, err
	}
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		// Without the URL, which may hold a password.
		return place{}, fmt.Errorf("the source %.10q://... is no http:// or https:// URL: want one, or a folder", scheme)
	}
	u.Fragment, u.RawFragment = "", ""
	return place{url: u}, nil
}

// shown returns what may be told of a URL: a query may hold a secret as well as the user's password.
func shown(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

func (p place) String() string {
	if p.url == nil {
		return p.folder
	}
	return shown(p.url)
}

// keyOf returns the key of a file by its full name. A password is left out of it: it could be guessed.
func keyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func (p place) key() string {
	u := *p.url
	u.User = nil
	return keyOf(u.String())
}

// A file is one of a source, whole and open.
type file struct {
	data.RefreshFile
	name string // as it is told to operators
	size int64
	*os.File
}

// A set is files that are open.
type set []*file

func (s set) close() {
	for _, f := range s {
		f.Close()
	}
}

// known returns what is to be remembered of the files, in order of key.
func (s set) known() []data.RefreshFile {
	known := make([]data.RefreshFile, 0, len(s))
	for _, f := range s {
		known = append(known, f.RefreshFile)
	}
	slices.SortFunc(known, func(a, b data.RefreshFile) int { return strings.Compare(a.Key, b.Key) })
	return known
}

// same reports whether the files have the bytes of those that were known before.
func (s set) same(before []data.RefreshFile) bool {
	return slices.EqualFunc(s.known(), before, func(a, b data.RefreshFile) bool { return a.Key == b.Key && a.SHA256 == b.SHA256 })
}

func (s set) openable() []ingest.Openable {
	var files []ingest.Openable
	for _, f := range s {
		files = append(files, ingest.Openable{Name: f.name, Open: f.open})
	}
	return files
}

// open returns the file's bytes from the first on.
func (f *file) open() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(f.File, 0, f.size)), nil
}

// unchanged returns a fault if f holds other bytes than when its checksum was taken. Files in a folder are others' to
// write to: what was imported between two looks that agree is what was there.
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

// A contextReader ends with its context.
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
