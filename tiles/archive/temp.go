package archive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// tempName returns a hidden name beside path. Exclusive creation under a random name is safe beside other processes
// and other machines.
func tempName(path string) string {
	return filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64()))
}

// createTemp creates a file that becomes path. Its permissions are those of any new file, because it is meant for
// others to read.
func createTemp(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, errors.New("there is something of that name that is no file")
	}
	return os.OpenFile(tempName(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// publish closes a finished file and gives it its name, once the disk has all of it: after a power cut there is the
// old archive or the new one.
func publish(file *os.File, path string) error {
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// discardFile closes and removes a file, if it is still there and open. There is nobody to tell if that fails: the
// error that led here says more.
func discardFile(file *os.File) {
	if file != nil {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
}

// isEmpty reports whether a folder may be replaced: there is none, or nothing is in it.
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
