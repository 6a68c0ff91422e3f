package store

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// A location names an SQLite database.
type location struct {
	path  string     // of the file
	query url.Values // SQLite's parameters from a file: URL
}

const (
	wantFile     = "give the path of an SQLite file, such as lakes.db"
	wantPostgres = "give postgres://USER:PASSWORD@HOST:PORT/DATABASE"
)

// keywords are PostgreSQL's other way to name a database, "host=db password=…", which would look like a path.
var keywords = regexp.MustCompile(`(^|\s)(host|hostaddr|port|user|password|passfile|dbname|service)\s*=`)

// parseDSN parses a path or a file: URL. Everything else is an error, which never repeats a URL: it may contain a password.
func parseDSN(dsn string) (location, error) {
	if dsn == "" {
		return location{}, errors.New("the name of the database is empty: " + wantFile)
	}
	if scheme, _, ok := strings.Cut(dsn, "://"); ok && scheme != "file" {
		return location{}, fmt.Errorf("databases of type %s:// are not supported: %s, or %s: %w", scheme, wantFile, wantPostgres, errors.ErrUnsupported)
	}
	if keywords.MatchString(dsn) {
		return location{}, fmt.Errorf("PostgreSQL's keywords (host=…) are not supported: %s, or %s: %w", wantFile, wantPostgres, errors.ErrUnsupported)
	}
	loc := location{path: dsn}
	if strings.HasPrefix(dsn, "file:") {
		u, err := url.Parse(dsn)
		if err != nil {
			return location{}, errors.New("the database's file: URL is invalid: " + wantFile)
		}
		if u.Host != "" && u.Host != "localhost" {
			return location{}, fmt.Errorf("the database's file: URL names the host %q; only a file on this machine is allowed", u.Host)
		}
		loc.path, loc.query = u.Path, u.Query()
		if u.Opaque != "" { // file:lakes.db
			if loc.path, err = url.PathUnescape(u.Opaque); err != nil {
				return location{}, errors.New("the database's file: URL is invalid: " + wantFile)
			}
		}
		for name := range loc.query {
			// Others would change how limnomap reads and writes, and one of them runs any SQL.
			if name != "vfs" && name != "nolock" && name != "psow" {
				return location{}, fmt.Errorf("the database's file: URL has the parameter %q; only vfs, nolock and psow are allowed", name)
			}
		}
	}
	if loc.path == "" || loc.path == ":memory:" {
		// Each connection of a pool would have its own database in memory.
		return location{}, fmt.Errorf("the database %q is not a file: %s", dsn, wantFile)
	}
	return loc, nil
}

// Check returns an error if Open cannot open dsn, as far as that is known without opening a file or a connection.
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

// Name returns a name of the database for logs: dsn without the user and password of a URL.
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

// url returns the file: URL by which SQLite opens l, with more parameters. It is a URL because SQLite would cut off a plain
// path at its first question mark.
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

// FilePath returns the path of the file that dsn names, and false if it names a database of another kind or is invalid,
// which [Open] reports.
func FilePath(dsn string) (path string, ok bool) {
	if isPostgres(dsn) {
		return "", false
	}
	loc, err := parseDSN(dsn)
	return loc.path, err == nil
}
