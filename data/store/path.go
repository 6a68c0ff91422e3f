package store

// FilePath returns the path of the file that dsn names, and whether it names one: a database of another kind lies
// elsewhere, and a dsn that is none [Open] has an error for.
func FilePath(dsn string) (path string, ok bool) {
	if isPostgres(dsn) {
		return "", false
	}
	loc, err := parseDSN(dsn)
	return loc.path, err == nil
}
