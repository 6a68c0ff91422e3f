package main

import (
	"log/slog"
	"os"
	"path/filepath"

	"limnomap/cmd/limnomap/config"
	"limnomap/tiles/disk"
)

// cacheFlags are the folder and the size of the disk cache of tiles.
type cacheFlags struct {
	CacheDir     string           `help:"Folder of the tile cache on disk. By default a folder in the user's cache folder." placeholder:"DIR" group:"Cache"`
	CacheDisk    config.ByteSize  `help:"Maximum size of the tile cache on disk; 0 is no disk cache." default:"1GiB" group:"Cache"`
	CacheMinFree *config.ByteSize `help:"Free space that the tile cache leaves on its disk: it shrinks if necessary. 0 is no limit. By default 1GiB, or a twentieth of a disk smaller than 20GiB." placeholder:"SIZE" group:"Cache"`
}

// folder returns the folder of the disk cache, or "" without a disk cache.
func (f *cacheFlags) folder(log *slog.Logger) string {
	if f.CacheDisk == 0 {
		return ""
	}
	if f.CacheDir != "" {
		return f.CacheDir
	}
	dir, err := userCacheDir()
	if err != nil {
		log.Warn("no disk cache: this user has no cache folder, and --cache-dir is not set", "error", err)
		return ""
	}
	return dir
}

// userCacheDir returns the folder of this user's tile cache.
func userCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "limnomap", "tiles"), err
}

// openCache opens the disk cache in a folder.
func (f *cacheFlags) openCache(dir string, log *slog.Logger, m *disk.Metrics) (*disk.Cache, error) {
	return disk.Open(dir, &disk.Options{Bytes: int64(f.CacheDisk), MinFree: f.minFree(), Logger: log, Metrics: m})
}

// minFree returns the flag's value as disk.Options.MinFree.
func (f *cacheFlags) minFree() int64 {
	switch {
	case f.CacheMinFree == nil:
		return 0 // the default of disk.Options
	case *f.CacheMinFree == 0:
		return -1 // no limit
	}
	return int64(*f.CacheMinFree)
}
