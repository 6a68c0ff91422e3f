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
	// settled is for how long nothing in a folder must have been written before it is read, so that files that are
	// being copied into it are not taken half. Looks are as often as that.
	settled = 2 * time.Second
	// maxLooks bounds the wait for a folder: a minute, after which something writes to it all the time.
	maxLooks = 30
	// maxNames bounds a folder: maxFiles with their checksums, and ten times as much that is none of ours.
	maxNames = 20 * maxFiles
)

// endings are the ends of names of files that may hold lakes or observations.
var endings = []string{".csv", ".tsv", ".json", ".geojson"}

// isData reports whether a file of that name is read. What it holds is told by its content.
func isData(name string) bool {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, packed)
	}
	return !strings.HasPrefix(name, ".") && slices.Contains(endings, filepath.Ext(name))
}

// An entry is a file as it was seen in a folder.
type entry struct {
	name     string
	size     int64
	modified time.Time
}

// list returns the files of a folder that are to be read, in order of name.
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
	defer root.Close() // only read through
	var entries []entry
	for _, name := range names {
		info, err := root.Stat(name) // of what a link leads to
		if err != nil {
			return nil, fault(folderReason, "%s: %w", filepath.Join(folder, name), explainLink(root, name, err))
		}
		if !info.Mode().IsRegular() {
			continue
		}
		entries = append(entries, entry{name, info.Size(), info.ModTime()})
	}
	if len(entries) == 0 {
		return nil, fault(emptyReason, "%s holds no file whose name ends in %s, or in one of these and .gz or .zst",
			folder, strings.Join(endings, ", "))
	}
	return entries, nil
}

// dataNames returns the names in a folder that may be those of data, in any order. It looks at no more of a folder than
// it takes to see that there are too many.
func dataNames(folder string) ([]string, error) {
	d, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var found []string
	for looked := 0; ; {
		names, err := d.Readdirnames(maxFiles)
		looked += len(names)
		for _, name := range names {
			if isData(name) {
				found = append(found, name)
			}
		}
		switch {
		case len(found) > maxFiles:
			return nil, fmt.Errorf("%s holds more than %d files of data: %d are allowed", folder, maxFiles, maxFiles)
		case looked > maxNames:
			return nil, fmt.Errorf("%s holds more than %d names: want a folder of its own for the data", folder, maxNames)
		case err == io.EOF:
			return found, nil
		case err != nil:
			return nil, err
		}
	}
}

// openRegular opens a file of a folder. A pipe of that name would be waited for without end, and hold up every later
// refresh. A link is followed within the folder alone, as those of a Kubernetes volume lead: whoever may only put files
// into it must not have another of the server's files read, whose lines the report would quote.
func openRegular(name string) (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer root.Close() // what was opened through it stays open
	f, err := root.OpenFile(filepath.Base(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, explainLink(root, filepath.Base(name), err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errLink is what stands for a link that is not followed.
var errLink = errors.New("this link leads out of the folder, or nowhere: want a file, or a link within the folder")

// explainLink returns errLink for err if name is a link, and err otherwise.
func explainLink(root *os.Root, name string, err error) error {
	if info, lerr := root.Lstat(name); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return errLink
	}
	return err
}

// settle returns what list does, once two looks at a folder that was just written to have found the same. A clock that is
// ahead of ours makes it look twice and no more.
func (r *Refresher) settle(ctx context.Context, folder string) ([]entry, error) {
	entries, err := list(folder)
	for range maxLooks {
		if err != nil || !slices.ContainsFunc(entries, func(e entry) bool { return r.now().Sub(e.modified) < settled }) {
			return entries, err
		}
		if err := r.sleep(ctx, settled); err != nil {
			return nil, err
		}
		before := entries
		if entries, err = list(folder); err == nil && slices.Equal(entries, before) {
			return entries, nil
		}
	}
	return nil, fault(changingReason, "%s has been written to for a minute: move files into it when they are whole", folder)
}

// folder opens the files of a folder, with their checksums looked at.
func (r *Refresher) folder(ctx context.Context, folder string) (files set, err error) {
	entries, err := r.settle(ctx, folder)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			files.close()
		}
	}()
	for _, e := range entries {
		f, err := openRegular(filepath.Join(folder, e.name))
		if err != nil {
			return files, fault(folderReason, "%w", err)
		}
		opened := &file{name: f.Name(), File: f, RefreshFile: data.RefreshFile{Key: keyOf(f.Name())}}
		files = append(files, opened)
		if opened.SHA256, opened.size, err = digestFile(ctx, f); err != nil {
			return files, fault(folderReason, "%w", err)
		}
		if err := r.checkBeside(opened); err != nil {
			return files, err
		}
	}
	return files, nil
}

// checkBeside compares a file with the checksum beside it, if there is one.
func (r *Refresher) checkBeside(f *file) error {
	beside := f.name + checksumEnd
	sums, err := openRegular(beside)
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.opts.RequireChecksum:
		return fault(noChecksumReason, "%s is missing: a checksum is required", beside)
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
	return checkSum(f, beside, string(text), filepath.Base(f.name))
}

// checkSum compares f with what the file of checksums says of base.
func checkSum(f *file, sums, text, base string) error {
	want, err := sumOf(text, base)
	if err != nil {
		return fault(checksumReason, "%s: %w", sums, err)
	}
	if want != f.SHA256 {
		return fault(checksumReason, "%s: its SHA-256 is %x, and by %s it should be %x", f.name, f.SHA256, filepath.Base(sums), want)
	}
	return nil
}
