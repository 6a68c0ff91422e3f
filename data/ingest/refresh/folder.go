package refresh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"limnomap/data"
)

const (
	// settleTime is how long nothing in a folder must have been written before it is read, so that files are not read while
	// they are being copied into it. It is also the time between checks.
	settleTime = 2 * time.Second
	// maxChecks bounds the wait for a folder that is being written to: a minute.
	maxChecks = 30
	// maxNames bounds a folder: maxFiles with their checksums, and ten times as many others.
	maxNames = 20 * maxFiles
)

// endings are the ends of the names of data files.
var endings = []string{".csv", ".tsv", ".json", ".geojson"}

// isData reports whether a file of that name is read. Its content decides its format.
func isData(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return !strings.HasPrefix(name, ".") && slices.Contains(endings, filepath.Ext(name))
}

// rasterEndings are the ends of the names of satellite files.
var rasterEndings = []string{".nc", ".tif", ".tiff"}

// isRaster reports whether a file of that name is read as a satellite file.
func isRaster(name string) bool {
	return !strings.HasPrefix(name, ".") && slices.Contains(rasterEndings, strings.ToLower(filepath.Ext(name)))
}

// An entry is a file in a folder listing.
type entry struct {
	name     string
	size     int64
	modified time.Time
}

// list returns the data files and satellite files in a folder, in order of name.
func list(folder string) ([]entry, error) {
	names, err := dataNames(folder)
	if err != nil {
		return nil, fault(folderReason, "%w", err)
	}
	slices.Sort(names)
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fault(folderReason, "%w", err)
	}
	defer root.Close() // it is only read
	var entries []entry
	for _, name := range names {
		info, err := root.Stat(name) // follows links
		if err != nil {
			return nil, fault(folderReason, "%s: %w", filepath.Join(folder, name), explainLink(root, name, err))
		}
		if !info.Mode().IsRegular() {
			continue
		}
		entries = append(entries, entry{name, info.Size(), info.ModTime()})
	}
	if len(entries) == 0 {
		return nil, fault(emptyReason, "%s has no file whose name ends in %s, or in one of these and .gz or .zst, or in %s",
			folder, strings.Join(endings, ", "), strings.Join(rasterEndings, ", "))
	}
	return entries, nil
}

// dataNames returns the names of data files and satellite files in a folder, in any order. It stops reading the folder when there are
// too many.
func dataNames(folder string) ([]string, error) {
	d, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var found []string
	tables := 0
	for listed := 0; ; {
		names, err := d.Readdirnames(maxFiles)
		listed += len(names)
		for _, name := range names {
			if isData(name) {
				tables++
			} else if !isRaster(name) {
				continue
			}
			found = append(found, name)
		}
		switch {
		case tables > maxFiles:
			return nil, fmt.Errorf("%s has more than %d data files: at most %d are allowed", folder, maxFiles, maxFiles)
		case listed > maxNames:
			return nil, fmt.Errorf("%s has more than %d names: want a folder for the data only", folder, maxNames)
		case err == io.EOF:
			return found, nil
		case err != nil:
			return nil, err
		}
	}
}

// openRegular opens a file in a folder. A pipe would block this refresh and all later ones. Links are followed only within
// the folder, as in a Kubernetes volume: a user who may write to the folder must not be able to read other files of the
// server, whose lines the report would quote.
func openRegular(name string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close() // the file stays open
	f, err := root.OpenFile(filepath.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, explainLink(root, filepath.Base(name), err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errLink is the error for a link that is not followed.
var errLink = errors.New("this link leads out of the folder or to a missing file: want a file, or a link within the folder")

// explainLink returns errLink if name is a link, and err otherwise.
func explainLink(root *os.Root, name string, err error) error {
	if info, lerr := root.Lstat(name); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errLink
	}
	return err
}

// settle returns the result of list. If the folder was just written to, it waits until two checks have the same result. With
// a clock that is ahead of ours it checks twice.
func (r *Refresher) settle(ctx context.Context, folder string) ([]entry, error) {
	entries, err := list(folder)
	for range maxChecks {
		if err != nil || !slices.ContainsFunc(entries, r.recent) {
			return entries, err
		}
		if err := r.sleep(ctx, settleTime); err != nil {
			return nil, err
		}
		before := entries
		if entries, err = list(folder); err == nil && slices.Equal(tablesOf(entries), tablesOf(before)) {
			return entries, nil
		}
	}
	return nil, fault(changingReason, "%s has been changing for a minute: move complete files into it by renaming them", folder)
}

// recent reports whether a table was just written to. Satellite files, which may take long to copy, are checked when they are read.
func (r *Refresher) recent(e entry) bool {
	return !isRaster(e.name) && r.now().Sub(e.modified) < settleTime
}

func tablesOf(entries []entry) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return isRaster(e.name) })
}

// folder opens the data files in a folder and checks their checksums. They may have as many bytes as are left for the refresh. It does
// not open the satellite files.
func (r *Refresher) folder(ctx context.Context, folder string, left int64) (files fileSet, rasters []*raster, err error) {
	entries, err := r.settle(ctx, folder)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			files.close()
		}
	}()
	for _, e := range entries {
		if isRaster(e.name) {
			rasters = append(rasters, r.localRaster(folder, e))
			continue
		}
		if left -= e.size; left < 0 {
			return files, nil, r.tooMuch(filepath.Join(folder, e.name))
		}
		f, err := openRegular(filepath.Join(folder, e.name))
		if err != nil {
			return files, nil, fault(folderReason, "%w", err)
		}
		opened := &file{name: f.Name(), File: f, RefreshFile: data.RefreshFile{Key: keyOf(f.Name())}}
		files = append(files, opened)
		if opened.SHA256, opened.size, err = digestFile(ctx, f); err != nil {
			return files, nil, fault(folderReason, "%w", err)
		}
		if err := r.checkLocalSum(opened); err != nil {
			return files, nil, err
		}
	}
	return files, rasters, nil
}

// checkLocalSum compares a file with the checksum file next to it, if there is one.
func (r *Refresher) checkLocalSum(f *file) error {
	sumPath := f.name + checksumEnd
	sums, err := openRegular(sumPath)
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.opts.RequireChecksum:
		return fault(noChecksumReason, "%s is missing: a checksum is required", sumPath)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault(folderReason, "%w", err)
	}
	defer sums.Close()
	text, err := io.ReadAll(io.LimitReader(sums, maxChecksumBytes))
	if err != nil {
		return fault(folderReason, "%w", err)
	}
	return checkSum(f, sumPath, string(text), filepath.Base(f.name))
}

// checkSum compares f with the checksum of base in a checksum file.
func checkSum(f *file, sums, text, base string) error {
	want, err := sumOf(text, base)
	if err != nil {
		return fault(checksumReason, "%s: %w", sums, err)
	}
	if want != f.SHA256 {
		return fault(checksumReason, "%s: its SHA-256 is %x, but %s has %x", f.name, f.SHA256, filepath.Base(sums), want)
	}
	return nil
}
