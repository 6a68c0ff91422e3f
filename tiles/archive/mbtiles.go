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

// setup makes an empty tileset. The file has a temporary name and is removed if anything fails, so it needs no journal and no
// fsync. Pages of 4 KiB are SQLite's default, set so that it does not change: tiles of 3.6 kB on average take 18 % more than
// their bytes; with 16 KiB they take 22 % more, with 32 KiB 12 %, but then a query for one tile reads eight times as much. The
// application id is that of MBTiles in SQLite's magic.txt.
//
// Tiles with equal content share one row of images behind a view, which MBTiles allows (version 1.3, "Database").
const setup = `
PRAGMA page_size = 4096;
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

// companions are the suffixes of files that SQLite keeps while a database is in use. It would read them as parts of a new
// database with the old name.
var companions = [...]string{"-journal", "-wal", "-shm"}

// An mbtiles writes rows in one transaction on one connection, so that the bytes of the file depend on nothing else.
type mbtiles struct {
	path            string
	out             *os.File // the file of the database, opened a second time to rename or remove it
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

// checkUnused returns an error if another program is using the database at path.
func checkUnused(path string) error {
	for _, end := range companions {
		if _, err := os.Lstat(path + end); err == nil {
			return fmt.Errorf("%s exists: another program has the archive open, or did not finish it; close it there, or remove both files", filepath.Base(path)+end)
		}
	}
	return nil
}

func (m *mbtiles) open(meta *Metadata) error {
	name, err := filepath.Abs(m.out.Name())
	if err != nil {
		return err
	}
	// A URL, since SQLite would end a plain path at its first question mark.
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
	// A statement that is not closed would keep the file open and locked after db is closed.
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
	_ = m.closeDatabase() // closed already after finish, and not needed before
	discardFile(m.out)
}
