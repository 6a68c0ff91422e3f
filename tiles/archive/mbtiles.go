package archive

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/paulmach/orb/maptile"
	sqlitedriver "modernc.org/sqlite"
)

// setup makes an empty tileset. It is built where nobody sees it, and thrown away if anything fails: so that neither
// journal nor waiting for the disk is needed. Pages of 16 KiB hold several tiles, where the usual 4 KiB would be left
// half empty by each. The application's id is the one that SQLite's magic.txt gives to MBTiles.
//
// Tiles of equal content share one image, behind a view, which MBTiles allows for (version 1.3, "Database").
const setup = `
PRAGMA page_size = 16384;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -65536; -- KiB
PRAGMA application_id = 0x4d504258;
BEGIN;
CREATE TABLE metadata (name TEXT, value TEXT);
CREATE UNIQUE INDEX name ON metadata (name);
CREATE TABLE images (tile_id INTEGER PRIMARY KEY, tile_data BLOB);
CREATE TABLE map (
	zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id INTEGER,
	PRIMARY KEY (zoom_level, tile_column, tile_row)
) WITHOUT ROWID;
CREATE VIEW tiles AS SELECT zoom_level, tile_column, tile_row, tile_data FROM map JOIN images USING (tile_id);
`

// leftovers are the ends of the files that SQLite keeps beside a database in use. It would take them for parts of a
// database that is put in their place.
var leftovers = [...]string{"-journal", "-wal", "-shm"}

// An mbtiles writes rows in one transaction on one connection, so that the file's bytes follow from them alone.
type mbtiles struct {
	path            string
	out             *os.File // the database's file, opened beside SQLite to publish or remove it
	db              *sql.DB
	conn            *sql.Conn
	putMap, putTile *sql.Stmt
	contents        map[digest]int64 // the tile_id of each content
}

func newMBTiles(path string, meta *Metadata) (*mbtiles, error) {
	if err := checkUnused(path); err != nil {
		return nil, err
	}
	out, err := createTemp(path)
	if err != nil {
		return nil, err
	}
	m := &mbtiles{path: path, out: out, contents: map[digest]int64{}}
	if err := m.open(meta); err != nil {
		m.discard()
		return nil, err
	}
	return m, nil
}

// checkUnused refuses to replace a database that somebody is writing to.
func checkUnused(path string) error {
	for _, end := range leftovers {
		if _, err := os.Lstat(path + end); err == nil {
			return fmt.Errorf("%s is there too: another program has the archive open, or left it unfinished; close it there, or remove both", filepath.Base(path)+end)
		}
	}
	return nil
}

func (m *mbtiles) open(meta *Metadata) error {
	name, err := filepath.Abs(m.out.Name())
	if err != nil {
		return err
	}
	// A URL, because a plain path would end at its first question mark.
	connector, err := sqlitedriver.NewConnector((&url.URL{Scheme: "file", Path: filepath.ToSlash(name)}).String())
	if err != nil {
		return err
	}
	m.db = sql.OpenDB(connector)
	ctx := context.Background()
	if m.conn, err = m.db.Conn(ctx); err != nil {
		return err
	}
	if _, err := m.conn.ExecContext(ctx, setup); err != nil {
		return err
	}
	for _, t := range append(meta.texts(),
		text{"format", "png"},
		text{"bounds", degrees(meta.box()...)},
		text{"center", degrees(meta.center()...)},
		text{"minzoom", strconv.Itoa(int(meta.MinZoom))},
		text{"maxzoom", strconv.Itoa(int(meta.MaxZoom))},
	) {
		if _, err := m.conn.ExecContext(ctx, "INSERT INTO metadata VALUES (?, ?)", t.name, t.value); err != nil {
			return err
		}
	}
	if m.putMap, err = m.conn.PrepareContext(ctx, "INSERT INTO map VALUES (?, ?, ?, ?)"); err != nil {
		return err
	}
	m.putTile, err = m.conn.PrepareContext(ctx, "INSERT INTO images VALUES (?, ?)")
	return err
}

func (m *mbtiles) add(_ uint64, t maptile.Tile, png []byte) error {
	content := digestOf(png)
	id, known := m.contents[content]
	if !known {
		id = int64(len(m.contents)) + 1
		if _, err := m.putTile.Exec(id, png); err != nil {
			return err
		}
		m.contents[content] = id
	}
	fromSouth := uint32(1)<<t.Z - 1 - t.Y // TMS
	_, err := m.putMap.Exec(t.Z, t.X, fromSouth, id)
	return err
}

func (m *mbtiles) finish() error {
	_, err := m.conn.ExecContext(context.Background(), "COMMIT")
	if err := errors.Join(err, m.closeDatabase(), checkUnused(m.path)); err != nil {
		return err
	}
	return publish(m.out, m.path)
}

func (m *mbtiles) closeDatabase() error {
	var err error
	// A statement left open would keep SQLite's hold on the file, its lock too, beyond the closing of db.
	for _, s := range []*sql.Stmt{m.putMap, m.putTile} {
		if s != nil {
			err = errors.Join(err, s.Close())
		}
	}
	if m.conn != nil {
		err = m.conn.Close()
		m.conn = nil
	}
	if m.db != nil {
		err = errors.Join(err, m.db.Close())
		m.db = nil
	}
	return err
}

func (m *mbtiles) discard() {
	_ = m.closeDatabase() // after finish it is closed, and before it is of no more use
	discardFile(m.out)
}
