package archive

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"limnomap/data/diskspace"
)

// createTemp creates a file that will be renamed to path. It has the permissions of any new file, since others shall read it.
func createTemp(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("that name exists and is not a file")
	}
	return diskspace.CreateUnfinished(path, 0o666)
}

// publish closes a finished file and renames it when the disk has stored it: after a power failure there is either the old
// archive or the new one.
func publish(file *os.File, path string) error {
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// discardFile closes and removes a file. Errors are ignored: it may be gone already, and the error that led here says more.
func discardFile(file *os.File) {
	if file != nil {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
}

// isEmpty reports whether a folder may be replaced: it does not exist, or is empty.
func isEmpty(dir string) (bool, error) {
	file, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	_, err = file.Readdirnames(1)
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return false, err
}
