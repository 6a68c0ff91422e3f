package main

import (
	"log/slog"
	"os"
	"path/filepath"
)

// cacheFlags say where the disk cache of tiles lies and how large it may be.
type cacheFlags struct {
	CacheDir  string   `help:"Folder of the tile cache on disk. By default the user's cache folder." placeholder:"DIR" group:"Cache"`
	CacheDisk byteSize `help:"Bound of the tile cache on disk; 0 is none." default:"1GiB" group:"Cache"`
}

// folder returns the folder of the disk cache, or "" where there is to be none.
func (f *cacheFlags) folder(log *slog.Logger) string {
	if f.CacheDisk == 0 {
		return ""
	}
	if f.CacheDir != "" {
		return f.CacheDir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		log.Warn("no disk cache: this user has no cache folder, and --cache-dir names none", "err", err)
		return ""
	}
	return filepath.Join(dir, "limnomap", "tiles")
}
