package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeTogether writes the named files, all of them or none: what write fails to finish, and what cannot be put in its
// place, leaves everything as it was. Without force it overwrites nothing.
func writeTogether(names []string, force bool, write func([]io.Writer) error) (err error) {
	for _, name := range names {
		if err := checkTarget(name, force); err != nil {
			return err
		}
	}
	var temporary []string
	defer func() {
		for _, name := range temporary {
			_ = os.Remove(name) // of those that are in place it finds nothing
		}
	}()
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close() // after a success they are closed already
		}
	}()
	var buffers []*bufio.Writer
	var writers []io.Writer
	for _, name := range names {
		f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*.tmp")
		if err != nil {
			return fmt.Errorf("%s: %w", name, err) // which names the temporary file alone
		}
		files, temporary = append(files, f), append(temporary, f.Name())
		b := bufio.NewWriterSize(f, 1<<16)
		buffers, writers = append(buffers, b), append(writers, b)
	}
	if err := write(writers); err != nil {
		return err
	}
	for i, f := range files {
		if err := finishFile(f, buffers[i]); err != nil {
			return err
		}
	}
	return replaceTogether(names, temporary, force)
}

func finishFile(f *os.File, b *bufio.Writer) error {
	// A temporary file is its owner's alone; these are for everybody to read, as files that programs write are.
	return errors.Join(b.Flush(), f.Chmod(0o644), f.Close())
}

// checkTarget returns an error if a file of that name must not be written.
func checkTarget(name string, force bool) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkFolder(name)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there and is no regular file: want the name of a file to write", name)
	case !force:
		return fmt.Errorf("%s is there already: want another name, or --force to overwrite it", name)
	}
	return nil
}

// checkFolder returns an error if there is no folder for a file of that name.
func checkFolder(name string) error {
	folder := filepath.Dir(name)
	_, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no folder %s: want one that is there", name, folder)
	}
	return err
}

// sameName reports whether two names are one entry of one folder, which the way to it may hide: a link to a folder, or
// a "..". Files that are linked to each other under two names are two, since they are replaced, not written into.
func sameName(a, b string) bool {
	folderA, nameA := filepath.Split(a)
	folderB, nameB := filepath.Split(b)
	if nameA != nameB {
		return false
	}
	if folderA == folderB {
		return true
	}
	infoA, errA := os.Stat(cmp.Or(folderA, "."))
	infoB, errB := os.Stat(cmp.Or(folderB, "."))
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// replaceTogether gives the temporary files their names. If one of them cannot have it, those that came before give
// theirs back to what was there.
func replaceTogether(names, temporary []string, force bool) (err error) {
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; i >= 0 && err != nil; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	var replaced []string
	for i, name := range names {
		// Once more, since writing has taken its time.
		if err := checkTarget(name, force); err != nil {
			return err
		}
		kept := temporary[i] + ".old"
		switch err := os.Rename(name, kept); {
		case err == nil:
			replaced = append(replaced, kept)
			undo = append(undo, func() error { return os.Rename(kept, name) })
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if err := os.Rename(temporary[i], name); err != nil {
			return err
		}
		undo = append(undo, func() error { return os.Remove(name) })
	}
	for _, kept := range replaced {
		_ = os.Remove(kept) // the new files stand, and what is left over does no harm
	}
	return nil
}
