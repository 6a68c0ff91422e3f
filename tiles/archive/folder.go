package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/paulmach/orb/maptile"
)

// A folder writes each tile to a file of its own, z/x/y.png, and tiles.json beside them.
type folder struct {
	path, temp string
}

func newFolder(path string, meta *Metadata) (*folder, error) {
	path, err := filepath.Abs(path) // "." has a name too, and a place beside it
	if err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // the folder is replaced, and not a link to it
	}
	if err := checkEmpty(path); err != nil {
		return nil, err
	}
	f := &folder{path: path, temp: tempName(path)}
	if err := f.checkMovable(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(f.temp, 0o777); err != nil {
		return nil, err
	}
	if err := f.writeTileJSON(meta); err != nil {
		f.discard()
		return nil, err
	}
	return f, nil
}

// checkMovable refuses a folder that cannot be replaced, such as the one where a disk is mounted, before any work is done
// for it: by moving it away and back, while it is empty.
func (f *folder) checkMovable() error {
	err := os.Rename(f.path, f.temp)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the folder cannot be replaced, as where a disk is mounted; name one within it: %w", err)
	}
	return os.Rename(f.temp, f.path)
}

// writeTileJSON writes a TileJSON 3.0.0 document. Its template is relative to itself: where the folder will be served,
// nobody knows yet.
func (f *folder) writeTileJSON(meta *Metadata) error {
	doc := map[string]any{ // marshalled in the order of its keys
		"tilejson": "3.0.0",
		"tiles":    []string{"{z}/{x}/{y}.png"},
		"scheme":   "xyz",
		"minzoom":  meta.MinZoom,
		"maxzoom":  meta.MaxZoom,
		"bounds":   meta.box(),
		"center":   meta.center(),
	}
	for _, t := range meta.texts() {
		doc[t.name] = t.value
	}
	b, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	return writeNew(filepath.Join(f.temp, "tiles.json"), append(b, '\n'))
}

func (f *folder) add(_ uint64, t maptile.Tile, png []byte) error {
	column := filepath.Join(f.temp, strconv.Itoa(int(t.Z)), strconv.Itoa(int(t.X)))
	name := filepath.Join(column, strconv.Itoa(int(t.Y))+".png")
	err := writeNew(name, png)
	if errors.Is(err, fs.ErrNotExist) { // the first tile of its column
		if err := os.MkdirAll(column, 0o777); err != nil {
			return err
		}
		err = writeNew(name, png)
	}
	return err
}

func writeNew(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// finish does not wait for the disk to have every file (fsync), which would take longer than writing them: after a
// power cut a folder is worth exporting again.
func (f *folder) finish() error {
	if err := checkEmpty(f.path); err != nil {
		return err
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) { // os.Rename replaces no folder
		return err
	}
	return os.Rename(f.temp, f.path)
}

func (f *folder) discard() { _ = os.RemoveAll(f.temp) }

// checkEmpty refuses a folder that holds anything: what an older export left in it would be served beside the new.
func checkEmpty(path string) error {
	empty, err := isEmpty(path)
	if err == nil && !empty {
		err = errors.New("the folder is not empty; remove it, or name another")
	}
	return err
}
