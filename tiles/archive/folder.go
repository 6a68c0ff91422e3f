package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"limnomap/data/diskspace"

	"github.com/paulmach/orb/maptile"
)

// A folder writes each tile to a file z/x/y.png, and tiles.json.
type folder struct {
	path, temp string
	held       *os.File // the folder temp: no other export removes it while it is open
}

func newFolder(path string, meta *Metadata) (*folder, error) {
	path, err := filepath.Abs(path) // the temporary folder needs the real name of "."
	if err != nil {
		return nil, err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // replace the folder, not a link to it
	}
	if err := checkEmpty(path); err != nil {
		return nil, err
	}
	held, err := diskspace.MakeUnfinished(path, 0o777)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, temp: held.Name(), held: held}
	if err := f.checkMovable(); err != nil {
		f.discard()
		return nil, err
	}
	if err := f.writeTileJSON(meta); err != nil {
		f.discard()
		return nil, err
	}
	return f, nil
}

// checkMovable returns an error for a folder that cannot be replaced, such as a mount point, before any tile is drawn. It
// renames the folder, which is empty, and renames it back.
func (f *folder) checkMovable() error {
	aside := filepath.Join(f.temp, "aside")
	err := os.Rename(f.path, aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the folder cannot be replaced, perhaps because it is a mount point; use a folder inside it: %w", err)
	}
	return os.Rename(aside, f.path)
}

// writeTileJSON writes a TileJSON 3.0.0 document. Its template is relative to the document, since the address at which the
// folder will be served is not known.
func (f *folder) writeTileJSON(meta *Metadata) error {
	doc := map[string]any{ // json.Marshal sorts the keys
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

// finish does not wait until the disk has stored every file (fsync), which would take longer than writing them: after a power
// failure, export the folder again.
func (f *folder) finish() error {
	if err := checkEmpty(f.path); err != nil {
		return err
	}
	if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) { // os.Rename replaces no folder
		return err
	}
	return os.Rename(f.temp, f.path)
}

func (f *folder) discard() {
	_ = f.held.Close()
	_ = os.RemoveAll(f.temp)
}

// checkEmpty returns an error for a folder that is not empty: tiles of an older export would be served with the new ones.
func checkEmpty(path string) error {
	empty, err := isEmpty(path)
	if err == nil && !empty {
		err = errors.New("the folder is not empty; remove it, or use another")
	}
	return err
}
