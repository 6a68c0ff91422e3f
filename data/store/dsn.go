package store

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// A location is where an SQLite database lies.
type location struct {
	path  string     // of the file, for errors and os.Stat
	query url.Values // SQLite's own parameters that a file: URL brought along
}

const (
	wantFile     = "give the path of an SQLite file, such as lakes.db"
	wantPostgres = "give postgres://USER:PASSWORD@HOST:PORT/DATABASE"
)

// keywords are PostgreSQL's other form of naming a database, "host=db password=…", which would pass for a path.
var keywords = regexp.MustCompile(`(^|\s)(host|hostaddr|port|user|password|passfile|dbname|service)\s*=`)

// parseDSN takes a path or a file: URL apart. Every other kind is an error, which never repeats a URL: it may hold a
// password.
func parseDSN(dsn string) (location, error) {
	if dsn == "" {
		return location{}, errors.New("the database has no name: " + wantFile)
	}
	if scheme, _, ok := strings.Cut(dsn, "://"); ok && scheme != "file" {
		return location{}, fmt.Errorf("there is no database of the kind %s://: %s, or %s: %w", scheme, wantFile, wantPostgres, errors.ErrUnsupported)
	}
	if keywords.MatchString(dsn) {
		return location{}, fmt.Errorf("the database is named by keywords (host=…): %s, or %s: %w", wantFile, wantPostgres, errors.ErrUnsupported)
	}
	loc := location{path: dsn}
	if strings.HasPrefix(dsn, "file:") {
		u, err := url.Parse(dsn)
		if err != nil {
			return location{}, errors.New("the database's file: URL cannot be read: " + wantFile)
		}
		if u.Host != "" && u.Host != "localhost" {
			return location{}, fmt.Errorf("the database's file: URL names the host %q; only a file of this machine is allowed", u.Host)
		}
		loc.path, loc.query = u.Path, u.Query()
		if u.Opaque != "" { // file:lakes.db
			if loc.path, err = url.PathUnescape(u.Opaque); err != nil {
				return location{}, errors.New("the database's file: URL cannot be read: " + wantFile)
			}
		}
		for name := range loc.query {
			// The rest sets up how limnomap reads and writes, and one of them runs any SQL that it is given.
			if name != "vfs" && name != "nolock" && name != "psow" {
				return location{}, fmt.Errorf("the database's file: URL has the parameter %q; only vfs, nolock and psow are allowed", name)
			}
		}
	}
	if loc.path == "" || loc.path == ":memory:" {
		// Each connection of a pool would see a memory of its own.
		return location{}, fmt.Errorf("the database %q is no file: %s", dsn, wantFile)
	}
	return loc, nil
}

// Check returns what keeps Open from opening dsn, as far as that shows without opening or asking anything.
func Check(dsn string, create bool) error {
	if isPostgres(dsn) {
		_, err := parsePostgres(dsn)
		return err
	}
	loc, err := parseDSN(dsn)
	if err != nil {
		return err
	}
	if err := checkFile(loc.path, create); err != nil {
		return fmt.Errorf("database %s: %w", loc.path, err)
	}
	return nil
}

// Name returns what a log may call the database that dsn names: without the user and password of a URL.
func Name(dsn string) string {
	if !isPostgres(dsn) {
		return dsn
	}
	config, err := parsePostgres(dsn)
	if err != nil {
		return "a PostgreSQL database"
	}
	return postgresName(config.ConnConfig)
}

// isPostgres reports whether dsn is the URL of a PostgreSQL database.
func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// url returns the file: URL by which SQLite opens l, with more parameters. A URL, because a plain path would end at
// its first question mark.
func (l location) url(more url.Values) string {
	query := url.Values{}
	for _, vs := range []url.Values{l.query, more} {
		for name, v := range vs {
			query[name] = append(query[name], v...)
		}
	}
	path := filepath.ToSlash(filepath.Clean(l.path))
	if filepath.VolumeName(l.path) != "" {
		path = "/" + path
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + query.Encode()
}
