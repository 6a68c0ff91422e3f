package diskspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
)

// unfinishedEnd is the end of the names of unfinished files, after a dot and the name of the file that they will be.
var unfinishedEnd = regexp.MustCompile(`^\.[0-9a-f]{16}\.tmp$`)

// maxBeside bounds the names that are looked at for files that dead processes have left.
const maxBeside = 100_000

// CreateUnfinished makes an empty file beside path, which will be renamed to it, with a random name that other machines do not use either. It
// removes those for the same path that processes have left which were killed. The file is locked while it is open.
func CreateUnfinished(path string, perm fs.FileMode) (*os.File, error) {
	return create(path, func(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm) })
}

// MakeUnfinished makes a folder as CreateUnfinished does a file. It has the lock until the returned file is closed.
func MakeUnfinished(path string, perm fs.FileMode) (*os.File, error) {
	return create(path, func(name string) (*os.File, error) {
		if err := os.Mkdir(name, perm); err != nil {
			return nil, err
		}
		return os.Open(name)
	})
}

func create(path string, make func(name string) (*os.File, error)) (*os.File, error) {
	removeUnfinished(path)
	for range 10 {
		f, err := make(filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%016x.tmp", filepath.Base(path), rand.Uint64())))
		if err != nil {
			return nil, err
		}
		lock(f) // without a lock, others do not remove it either
		if isNamed(f) {
			return f, nil
		}
		f.Close() // another process has removed it before it was locked
	}
	return nil, errors.New("other processes remove the temporary file")
}

// isNamed reports whether an open file has its name still.
func isNamed(f *os.File) bool {
	opened, err := f.Stat()
	named, err2 := os.Lstat(f.Name())
	return err == nil && err2 == nil && os.SameFile(opened, named)
}

// removeUnfinished removes what killed processes have left for path. Errors are ignored: the files are in nobody's way.
func removeUnfinished(path string) {
	folder, begin := filepath.Dir(path), "."+filepath.Base(path)
	d, err := os.Open(folder)
	if err != nil {
		return
	}
	defer d.Close()
	for range maxBeside / 1000 {
		names, err := d.Readdirnames(1000)
		for _, name := range names {
			if len(name) > len(begin) && name[:len(begin)] == begin && unfinishedEnd.MatchString(name[len(begin):]) {
				removeUnlocked(filepath.Join(folder, name))
			}
		}
		if err != nil {
			return
		}
	}
}

// removeUnlocked removes a file or folder that no process has locked.
func removeUnlocked(name string) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if opened, err := f.Stat(); err == nil && os.SameFile(opened, info) && lock(f) {
		_ = os.RemoveAll(name)
	}
}
