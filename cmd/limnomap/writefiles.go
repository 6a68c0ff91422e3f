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

	"limnomap/data/diskspace"
)

// writeFiles writes temporary files and renames them to names when all of them are complete. An error of write leaves all
// names as they were. Without force it overwrites nothing.
func writeFiles(names []string, force bool, write func([]io.Writer) error) (err error) {
	var files []*os.File
	defer func() {
		for _, f := range files {
			_ = f.Close()           // it is closed already, except after an error
			_ = os.Remove(f.Name()) // it is renamed already, except after an error
		}
	}()
	var buffers []*bufio.Writer
	var writers []io.Writer
	for _, name := range names {
		if err := checkTarget(name, force); err != nil {
			return err
		}
		f, err := diskspace.CreateUnfinished(name, 0o600)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err) // the error names only the temporary file
		}
		b := bufio.NewWriterSize(f, 1<<16)
		files, buffers, writers = append(files, f), append(buffers, b), append(writers, b)
	}
	if err := write(writers); err != nil {
		return err
	}
	for i, f := range files {
		// Only the owner may read a temporary file, but everyone the result, as with files of other programs.
		if err := errors.Join(buffers[i].Flush(), f.Chmod(0o644), f.Close()); err != nil {
			return err
		}
	}
	for _, name := range names { // again: writing took time
		if err := checkTarget(name, force); err != nil {
			return err
		}
	}
	for i, f := range files {
		if err := os.Rename(f.Name(), names[i]); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes a file as writeFiles does, or standard output if its name is -.
func (con *console) writeTo(name string, force bool, write func(io.Writer) error) error {
	if name == stdin {
		out := bufio.NewWriter(con.out)
		return errors.Join(write(out), out.Flush())
	}
	return writeFiles([]string{name}, force, func(w []io.Writer) error { return write(w[0]) })
}

// reportBeside returns where a command reports on a file that it writes: not to standard output if that is the file.
func (con *console) reportBeside(name string) io.Writer {
	if name == stdin {
		return con.err
	}
	return con.out
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
		return fmt.Errorf("%s exists and is not a regular file: want the name of a file to write", name)
	case !force:
		return fmt.Errorf("%s exists already: use another name, or --force to overwrite it", name)
	}
	return nil
}

// checkFolder returns an error if there is no folder for a file of that name.
func checkFolder(name string) error {
	folder := filepath.Dir(name)
	_, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the folder %s does not exist: create it, or use another one", name, folder)
	}
	return err
}

// sameFile reports whether two names are one entry of one folder, which may be hidden by a link to the folder or by "..".
// Two hard links to one file are not the same file: they are replaced, not written to.
func sameFile(a, b string) bool {
	folderA, nameA := filepath.Split(a)
	folderB, nameB := filepath.Split(b)
	if nameA != nameB {
		return false
	}
	infoA, errA := os.Stat(cmp.Or(folderA, "."))
	infoB, errB := os.Stat(cmp.Or(folderB, "."))
	return folderA == folderB || errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
