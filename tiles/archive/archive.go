package archive

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/paulmach/orb/maptile"

	"limnomap/tiles/hilbert"
)

// maxTileBytes is sixteen times a tile of 512 pixels without any compression: no map has a larger one.
const maxTileBytes = 16 << 20

// ErrClosed is returned by a Writer that was closed or aborted.
var ErrClosed = errors.New("the archive is closed")

// A Writer takes the tiles of one archive.
type Writer interface {
	// Add adds one tile. Tiles must come in the order of hilbert.ID, each at most once. The Writer does not keep png. After an
	// error the archive cannot be completed.
	Add(t maptile.Tile, png []byte) error
	// Close completes the archive and gives it its name. If that fails, or an Add has failed, the archive is removed, and
	// an older file of that name stays.
	Close() error
	// Abort removes the archive. After Close it does nothing, so that it can be deferred.
	Abort()
}

// A format writes tiles in one of the formats, under a temporary name. Its caller has checked the arguments.
type format interface {
	add(id uint64, t maptile.Tile, png []byte) error
	// finish completes the archive and renames it.
	finish() error
	// discard closes and removes all temporary files. It is called after errors, and after finish.
	discard()
}

// Create begins an archive at path. Its name selects the format: FILE.pmtiles, FILE.mbtiles, or DIR/ with the slash. The
// parent folder must exist. A file of that name is replaced, a folder must be empty.
func Create(path string, meta Metadata) (Writer, error) {
	w, err := create(path, &meta)
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", path, err)
	}
	return w, nil
}

func create(path string, meta *Metadata) (Writer, error) {
	if err := meta.check(); err != nil {
		return nil, err
	}
	var f format
	var err error
	switch ext := filepath.Ext(path); {
	case path != "" && (path[len(path)-1] == '/' || path[len(path)-1] == filepath.Separator):
		f, err = newFolder(path, meta)
	case ext == ".pmtiles":
		f, err = newPMTiles(path, meta)
	case ext == ".mbtiles":
		f, err = newMBTiles(path, meta)
	default:
		return nil, errors.New("the name does not select a format; FILE.pmtiles, FILE.mbtiles and DIR/ (with the slash) are allowed")
	}
	if err != nil {
		return nil, err
	}
	return &writer{path: path, format: f, minZoom: meta.MinZoom, maxZoom: meta.MaxZoom}, nil
}

// A writer adds the checks that all formats share.
type writer struct {
	path             string
	format           format
	minZoom, maxZoom maptile.Zoom
	next             uint64 // the smallest id that is allowed
	fault            error  // the first one, or ErrClosed
}

func (w *writer) Add(t maptile.Tile, png []byte) error {
	if w.fault != nil {
		return w.fault
	}
	if err := w.add(t, png); err != nil {
		w.fault = fmt.Errorf("archive %s: tile %d/%d/%d: %w", w.path, t.Z, t.X, t.Y, err)
	}
	return w.fault
}

func (w *writer) add(t maptile.Tile, png []byte) error {
	if t.Z < w.minZoom || t.Z > w.maxZoom {
		return fmt.Errorf("the zoom must be %d to %d", w.minZoom, w.maxZoom)
	}
	if !t.Valid() {
		return fmt.Errorf("no such tile: columns and rows are 0 to %d", uint32(1)<<t.Z-1)
	}
	if len(png) == 0 || len(png) > maxTileBytes {
		return fmt.Errorf("it has %d bytes; 1 to %d are allowed", len(png), maxTileBytes)
	}
	id := hilbert.ID(t)
	if id < w.next {
		if last := hilbert.Tile(w.next - 1); last != t {
			return fmt.Errorf("it comes after %d/%d/%d; tiles must come in the order of their ids", last.Z, last.X, last.Y)
		}
		return errors.New("it comes twice; each tile may come once")
	}
	w.next = id + 1
	return w.format.add(id, t, png)
}

func (w *writer) Close() error {
	if w.fault != nil {
		fault := w.fault
		w.Abort()
		return fault
	}
	err := w.format.finish()
	w.Abort()
	if err != nil {
		return fmt.Errorf("archive %s: %w", w.path, err)
	}
	return nil
}

func (w *writer) Abort() {
	if !errors.Is(w.fault, ErrClosed) {
		w.fault = ErrClosed
		w.format.discard()
	}
}
