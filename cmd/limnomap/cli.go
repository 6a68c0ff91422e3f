package main

import (
	"io"
	"log/slog"
	"strings"

	"limnomap/data"
)

const description = `Serve the water quality of lakes as heat-map tiles and as data.

Without --db it serves an embedded demo of German lakes with simulated values:
  limnomap serve
Your own lakes:
  limnomap import lakes lakes.csv --db lakes.db
  limnomap import observations obs.csv --db lakes.db
  limnomap serve --db lakes.db
The map for a host without a server, and the data for whoever needs them:
  limnomap export lakes.pmtiles --db lakes.db
  limnomap export observations obs.csv.zst --db lakes.db

Every flag can also be set by the environment, where --cache-dir is LIMNOMAP_CACHE_DIR, and in the YAML file that --config or
LIMNOMAP_CONFIG names, where it is cache-dir. A flag goes before the environment, the environment before the file, the file
before the default. Secrets may stand in files of their own: LIMNOMAP_DB_FILE names one that holds what LIMNOMAP_DB would.
What a command would go by, and where each value comes from:
  limnomap config serve`

// cli is the whole command line. Kong reads it: one struct per command.
type cli struct {
	Serve  serveCmd `cmd:"" help:"Serve the map and the data over HTTP."`
	Import struct {
		Lakes        importLakesCmd        `cmd:"" help:"Import lakes."`
		Observations importObservationsCmd `cmd:"" help:"Import what was measured or forecast of lakes."`
	} `cmd:"" help:"Import files into a database, each time in one transaction."`
	Refresh refreshCmd `cmd:"" help:"Bring a database up to date from a folder or URLs, once or again and again."`
	Warm    warmCmd    `cmd:"" help:"Draw tiles ahead into the disk cache of a server."`
	Export  struct {
		Map          exportCmd             `cmd:"" default:"withargs" help:"Write the map to a PMTiles, an MBTiles or a folder, for hosts without a server. The word map may be left out: export lakes.pmtiles."`
		Lakes        exportLakesCmd        `cmd:"" help:"Write the lakes of a database to a file that import takes."`
		Observations exportObservationsCmd `cmd:"" help:"Write the observations of a database to a file that import takes."`
	} `cmd:"" help:"Write the map for hosts without a server, or the data as import takes them."`
	Backup backupCmd `cmd:"" help:"Copy the database to a file while servers and imports use it."`
	Demo   demoCmd   `cmd:"" help:"Write any number of simulated lakes as CSV files, to try limnomap at scale."`
	Keys   struct {
		Create keysCreateCmd `cmd:"" help:"Make an API key and print it, once."`
		Rotate keysRotateCmd `cmd:"" help:"Make a new key that takes over from one, and print it, once. For some time both are valid."`
		List   keysListCmd   `cmd:"" help:"List the names of the API keys, whether they are valid, what they open and when they were last used."`
		Revoke keysRevokeCmd `cmd:"" help:"Revoke an API key."`
	} `cmd:"" help:"Manage the API keys of the keyed endpoints."`
	Cache struct {
		Stats  cacheStatsCmd  `cmd:"" help:"Count the tiles by style and zoom."`
		Verify cacheVerifyCmd `cmd:"" help:"Read every tile and remove the damaged ones: exit code 1 if there were any."`
		Purge  cachePurgeCmd  `cmd:"" help:"Remove tiles: all, or those that the flags name."`
	} `cmd:"" help:"Look after the tile cache on disk, also while a server uses it."`
	Config      configCmd      `cmd:"" passthrough:"" help:"Print what a command would go by, as YAML that --config takes, and where each value comes from."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Healthcheck healthcheckCmd `cmd:"" help:"Ask a running server whether it is well: exit code 0 or 1."`

	ConfigFile string `name:"config" help:"YAML file with the values of flags." placeholder:"FILE"`

	LogFormat string   `help:"Form of the log on stderr: ${enum}." enum:"text,json" default:"text"`
	LogLevel  logLevel `help:"Least level that is logged: debug, info, warn or error." default:"info" reload:""`
}

// A console is where a command speaks: its result to out, what accompanies it to err and the log.
type console struct {
	out, err io.Writer
	log      *slog.Logger

	level *slog.LevelVar // of log
	call  *call          // what the command is run by
}

func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	w = discreetWriter{w}
	opts := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

func profileIDs() string {
	var ids []string
	for _, p := range data.Profiles() {
		ids = append(ids, p.ID)
	}
	return strings.Join(ids, ",")
}
