package tiles

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
	// blockSize is what a file occupies at least on the usual file systems: the budget is one of disk, not of bytes.
	blockSize = 4096
	// tempAge is how old a temporary file is before nobody can still be writing it.
	tempAge = 10 * time.Minute
	// listBatch is how many names are read from a folder at a time, however many it holds.
	listBatch = 256

	tempSuffix = ".tmp"
)

func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// entryName returns where the entry of that sum lies in the folder.
func entryName(sum Sum) string { return filepath.Join(sum.shard(), sum.String()) }

// tempName returns a name under which the entry of that sum may be written. It is random, so that its exclusive creation
// is safe beside other processes and other machines.
func tempName(sum Sum) string {
	return fmt.Sprintf("%s.%016x%s", entryName(sum), rand.Uint64(), tempSuffix)
}

// A file is one of the cache's files: an entry, or one that is being written or was left half written by a process that
// was killed.
type file struct {
	shard *os.Root // its sub-folder, open during the visit
	name  string   // in the sub-folder
	sum   Sum      // that its name says
	temp  bool
	info  fs.FileInfo
}

// parseFileName reads the name of a file of ours in that sub-folder. ok is false for any other name.
func parseFileName(shard, name string) (sum Sum, temp, ok bool) {
	text := name
	if text, temp = strings.CutSuffix(name, tempSuffix); temp {
		var random string
		text, random, ok = strings.Cut(text, ".")
		if !ok || random == "" {
			return Sum{}, false, false
		}
	}
	sum, ok = parseSum(text)
	return sum, temp, ok && sum.shard() == shard
}

// walkFiles calls visit for each regular file in root that bears a name of ours, and for nothing else: whoever points the
// cache at a folder with other things in it loses none of them. It reads a little of one sub-folder at a time, however
// many files there are, and ends soon after ctx does, or with the first error of visit.
func walkFiles(ctx context.Context, root *os.Root, visit func(file) error) error {
	for i := range 256 {
		if err := walkShard(ctx, root, fmt.Sprintf("%02x", i), visit); err != nil {
			return err
		}
	}
	return nil
}

func walkShard(ctx context.Context, root *os.Root, name string, visit func(file) error) error {
	// To open a pipe would block, and a symbolic link is none of ours.
	if info, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return ctx.Err()
	}
	// A root of its own spares each file the way from the top.
	shard, err := root.OpenRoot(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ctx.Err() // removed since we looked
	}
	if err != nil {
		return err
	}
	defer shard.Close()
	list, err := shard.Open(".")
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
			// Not e.Info(): that looks along the whole path, which the root does not guard.
			info, err := shard.Lstat(e.Name())
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if err := visit(file{shard, e.Name(), sum, temp, info}); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// abandoned reports whether f is a temporary file that nobody writes any more.
func (f file) abandoned(now time.Time) bool {
	return f.temp && now.Sub(f.info.ModTime()) > tempAge
}

// readEntry reads the entry of that name and sum. ErrDamaged, with what is known of the file, if it is none.
func readEntry(root *os.Root, name string, sum Sum) (Tile, fs.FileInfo, error) {
	file, err := root.OpenFile(name, openToRead, 0)
	if err != nil {
		if info, lstatErr := root.Lstat(name); lstatErr == nil && !info.Mode().IsRegular() {
			return Tile{}, info, ErrDamaged // such as a link out of the folder
		}
		return Tile{}, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return Tile{}, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > int64(maxEntry) {
		return Tile{}, info, ErrDamaged
	}
	raw := make([]byte, info.Size())
	if _, err := io.ReadFull(file, raw); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = ErrDamaged // cut short since we looked
		}
		return Tile{}, info, err
	}
	t, err := decodeEntry(raw, sum)
	return t, info, err
}

// errFolderInPlace is returned for an entry in whose place there is a folder with something in it. It is not removed,
// since nothing of ours is a folder there; the other entries of the disk have no part in it.
var errFolderInPlace = errors.New("there is a folder in the place of the tile's file")

// writeEntry writes a file of its own and renames it, so that no reader sees half an entry. It does not wait for the disk
// to have it (fsync): a power cut may leave a torn entry, which the digest finds, and a cache may forget.
func writeEntry(root *os.Root, sum Sum, entry []byte) error {
	temp := tempName(sum)
	file, err := createNew(root, temp)
	if errors.Is(err, fs.ErrNotExist) {
		if err := root.Mkdir(sum.shard(), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		file, err = createNew(root, temp)
	}
	if err != nil {
		return err
	}
	_, err = file.Write(entry)
	err = errors.Join(err, file.Close())
	if err == nil {
		if err = root.Rename(temp, entryName(sum)); err != nil && isFolder(root, entryName(sum)) {
			err = fmt.Errorf("%w: %w", errFolderInPlace, err)
		}
	}
	if err != nil {
		_ = root.Remove(temp) // the first error tells more; a later walk removes it otherwise
	}
	return err
}

func isFolder(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && info.IsDir()
}

func createNew(root *os.Root, name string) (*os.File, error) {
	return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}
