package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// MinEntrySize is the disk space that the smallest entry takes: one block of the usual file systems. The budget is one
	// of disk space, not of bytes.
	MinEntrySize = 4096
	// tempAge is the age at which a temporary file counts as abandoned: no write takes that long.
	tempAge = 10 * time.Minute
	// listBatch is how many names are read from a folder at a time, however many it holds.
	listBatch = 256

	tempSuffix = ".tmp"
)

// onDisk returns the disk space that a file of that size takes.
func onDisk(size int64) int64 { return (size + MinEntrySize - 1) / MinEntrySize * MinEntrySize }

// entryName returns the path of the entry of that sum in the folder.
func entryName(s sum) string { return filepath.Join(shardName(s), sumName(s)) }

// tempName returns a name for the temporary file of the entry of that name. It is random, so that exclusive creation is safe
// when other processes and other machines share the folder.
func tempName(entry string) string {
	return fmt.Sprintf("%s.%016x%s", entry, rand.Uint64(), tempSuffix)
}

// A file is one of the cache's files: an entry, or a temporary file.
type file struct {
	shard *os.Root // its sub-folder, open during the visit
	name  string   // in the sub-folder
	sum   sum      // from its name
	temp  bool
	info  fs.FileInfo
}

// parseFileName reads the name of a file in that sub-folder. It reports false for a name that the cache does not use.
func parseFileName(shard, name string) (s sum, temp, ok bool) {
	text := name
	if text, temp = strings.CutSuffix(name, tempSuffix); temp {
		var random string
		text, random, ok = strings.Cut(text, ".")
		if !ok || random == "" {
			return s, false, false
		}
	}
	s, ok = parseSumName(text)
	return s, temp, ok && shardName(s) == shard
}

// walkFiles calls visit for each regular file in root that has a name of the cache, and for no other file: a cache that is
// pointed at a folder with other files removes none of them. It reads a part of one sub-folder at a time, however many
// files there are, and ends soon after ctx does, or with the first error of visit.
func walkFiles(ctx context.Context, root *os.Root, visit func(file) error) error {
	for i := range shardCount {
		if err := walkShard(ctx, root, nameOfShard(i), visit); err != nil {
			return err
		}
	}
	return nil
}

func walkShard(ctx context.Context, root *os.Root, name string, visit func(file) error) error {
	// Opening a pipe would block, and the cache makes no symbolic links.
	if info, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return ctx.Err()
	}
	// With a root for the sub-folder, the path of each file is one name long.
	shard, err := root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err() // removed since Lstat
	}
	if err != nil {
		return err
	}
	defer shard.Close()
	list, err := shard.Open(".")
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	defer list.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		batch, err := list.ReadDir(listBatch)
		for _, e := range batch {
			sum, temp, ok := parseFileName(name, e.Name())
			if !ok {
				continue
			}
			// Not e.Info(): it uses the whole path, which the root does not guard.
			info, err := shard.Lstat(e.Name())
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if err := visit(file{shard, e.Name(), sum, temp, info}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) { // removed while it was read
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// abandoned reports whether f is a temporary file that no process writes any more.
func (f file) abandoned(now time.Time) bool {
	return f.temp && now.Sub(f.info.ModTime()) > tempAge
}

// readKey reads the header of an entry and returns its key.
func (f file) readKey() ([]byte, error) {
	file, err := f.shard.OpenFile(f.name, openToRead, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw := make([]byte, maxHeader)
	n, err := io.ReadFull(file, raw)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	h, err := decodeHeader(raw[:n], f.sum)
	if err != nil {
		return nil, err
	}
	// Not the size in f.info: a server may have replaced the file since.
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if int64(h.size()) != info.Size() {
		return nil, ErrDamaged
	}
	return h.key, nil
}

// readEntry reads the entry of that name and sum. If it is damaged the error is ErrDamaged, and the file's info is returned
// too.
func readEntry(root *os.Root, name string, sum sum) (entry, fs.FileInfo, error) {
	file, err := root.OpenFile(name, openToRead, 0)
	if err != nil {
		if info, lstatErr := root.Lstat(name); lstatErr == nil && !info.Mode().IsRegular() {
			return entry{}, info, ErrDamaged // such as a link out of the folder
		}
		if !errors.Is(err, fs.ErrNotExist) && isShardTaken(root, sum) {
			err = fmt.Errorf("%w: %w", errShardTaken, err)
		}
		return entry{}, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return entry{}, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > int64(maxEntry) {
		return entry{}, info, ErrDamaged
	}
	raw := make([]byte, info.Size())
	if _, err := io.ReadFull(file, raw); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = ErrDamaged // truncated since Stat
		}
		return entry{}, info, err
	}
	e, err := decodeEntry(raw, sum)
	return e, info, err
}

// errShardTaken is returned for an entry whose sub-folder is no folder, but a link out of the cache, say. It is no fault of the
// disk: the other sub-folders work.
var errShardTaken = errors.New("a link or a file has the name of the tile's folder")

// isShardTaken reports whether the sub-folder of that sum exists and is no folder.
func isShardTaken(root *os.Root, sum sum) bool {
	info, err := root.Lstat(shardName(sum))
	return err == nil && !info.IsDir()
}

// clearShard removes a link that has the name of the sub-folder of that sum: the cache makes none. The target stays, and
// so do other files. It reports whether the name is free now.
func clearShard(root *os.Root, sum sum) bool {
	name := shardName(sum)
	info, err := root.Lstat(name)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		err = root.Remove(name)
		return err == nil || errors.Is(err, fs.ErrNotExist)
	}
	return errors.Is(err, fs.ErrNotExist)
}

// errNameIsFolder is returned for an entry whose name is taken by a folder that is not empty. The folder is not removed,
// since the cache did not make it; all other entries work.
var errNameIsFolder = errors.New("a folder has the name of the tile's file")

// writeEntry writes a temporary file and renames it, so that no reader sees half an entry. It does not wait until the disk
// has stored it (fsync): a power failure may leave a torn entry, which the digest finds, and a cache may forget.
func writeEntry(root *os.Root, sum sum, raw []byte) error {
	shard, err := openShard(root, shardName(sum))
	if err != nil && clearShard(root, sum) {
		if err := makeShard(root, shardName(sum)); err != nil {
			return err
		}
		shard, err = openShard(root, shardName(sum))
	}
	if err != nil {
		if isShardTaken(root, sum) {
			err = fmt.Errorf("%w: %w", errShardTaken, err)
		}
		return err
	}
	defer shard.Close()
	return writeFile(shard, sumName(sum), raw)
}

// openShard opens a sub-folder. With a root of its own, the path of each file is one name long; otherwise each step of a write would open
// the sub-folder again. It does not wait for a pipe of that name, since only a folder has a dot in it.
func openShard(root *os.Root, name string) (*os.Root, error) { return root.OpenRoot(name + "/.") }

// writeFile writes the entry of that name in its sub-folder.
func writeFile(shard *os.Root, name string, raw []byte) error {
	temp := tempName(name)
	file, err := shard.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(raw)
	err = errors.Join(err, file.Close())
	if err == nil {
		if err = shard.Rename(temp, name); err != nil && isFolder(shard, name) {
			err = fmt.Errorf("%w: %w", errNameIsFolder, err)
		}
	}
	if err != nil {
		_ = shard.Remove(temp) // if this fails too, a later count removes the file
	}
	return err
}

// makeShards makes all sub-folders, as cmd/go/internal/cache does: the first tiles need not wait for them. What fails here fails again
// when an entry is written, and is recorded then.
func makeShards(root *os.Root) {
	for i := range shardCount {
		if makeShard(root, nameOfShard(i)) != nil {
			return
		}
	}
}

// makeShard makes a sub-folder if there is none.
func makeShard(root *os.Root, name string) error {
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// isNameTaken reports whether err concerns only the entries of one name, or of one sub-folder.
func isNameTaken(err error) bool {
	return errors.Is(err, errNameIsFolder) || errors.Is(err, errShardTaken)
}

func isFolder(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.IsDir()
}
