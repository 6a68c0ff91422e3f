package main

import (
	"io"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"limnomap/cmd/limnomap/config"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/demo"
	"limnomap/render"
	"limnomap/tiles"
)

const description = `Serve the water quality of lakes as heat-map tiles and as data.

Without --db it serves an embedded demo of German lakes with simulated values:
  limnomap serve
Your own lakes:
  limnomap import lakes lakes.csv --db lakes.db
  limnomap import observations obs.csv --db lakes.db
  limnomap import rasters c_gls_LWQ300_*.nc --db lakes.db
  limnomap serve --db lakes.db
The map for a host without a server, and the data for other programs:
  limnomap export lakes.pmtiles --db lakes.db
  limnomap export observations obs.csv.zst --db lakes.db

Every flag can also be set in the environment, where --cache-dir is LIMNOMAP_CACHE_DIR, and in a YAML file that --config or
LIMNOMAP_CONFIG names, where it is cache-dir. A flag overrides the environment, the environment overrides the file, the file
overrides the default. A secret can be in a file of its own: LIMNOMAP_DB_FILE names a file that holds the value of LIMNOMAP_DB.
To see the settings of a command, and where each value is from:
  limnomap config serve
The help of a command, and of all commands below a word:
  limnomap help serve
  limnomap help import`

// cli is the whole command line, one struct for each command. The tags are explained in package config.
type cli struct {
	Serve  serveCmd `cmd:"" group:"Serve:" help:"Serve the map and the data over HTTP."`
	Import struct {
		Lakes        importLakesCmd        `cmd:"" help:"Import lakes."`
		Observations importObservationsCmd `cmd:"" help:"Import measurements and forecasts of lakes."`
		Advisories   importAdvisoriesCmd   `cmd:"" help:"Import official statements about lakes, such as closures."`
		Rasters      importRastersCmd      `cmd:"" help:"Import the values of the lakes from satellite files, or write them to a CSV file."`
	} `cmd:"" group:"Bring data in:" help:"Import lakes, observations, official statements or satellite files into a database."`
	Close   closeCmd  `cmd:"" group:"Bring data in:" help:"Close a lake for bathing: the same official statement as by an import."`
	Reopen  reopenCmd `cmd:"" group:"Bring data in:" help:"Open a lake again: withdraw its closure."`
	Imports struct {
		List importsListCmd `cmd:"" help:"List the imports: when, by whom, files, rows by outcome."`
		Undo importsUndoCmd `cmd:"" help:"Take an import back: what it added is deleted, and what it changed is as before."`
	} `cmd:"" group:"Bring data in:" help:"List imports, and take them back."`
	Delete struct {
		Lake         deleteLakeCmd         `cmd:"" help:"Delete a lake with all that is stored of it."`
		Observations deleteObservationsCmd `cmd:"" help:"Delete the observations that flags select."`
		Source       deleteSourceCmd       `cmd:"" help:"Delete all observations of a source."`
	} `cmd:"" group:"Bring data in:" help:"Delete a lake, observations or a source from a database."`
	Refresh  refreshCmd  `cmd:"" group:"Bring data in:" help:"Update a database from a folder or URLs, once or on a schedule."`
	Forecast forecastCmd `cmd:"" group:"Bring data in:" help:"Forecast the chlorophyll of each lake one to four weeks ahead, or test such forecasts with past years."`
	Demo     demoCmd     `cmd:"" group:"Bring data in:" help:"Write any number of simulated lakes as CSV files, to try limnomap at scale."`
	Export   struct {
		Map          exportCmd             `cmd:"" default:"withargs" help:"Write the map to a PMTiles, an MBTiles or a folder, for hosts without a server. The word map may be left out: export lakes.pmtiles."`
		Lakes        exportLakesCmd        `cmd:"" help:"Write the lakes of a database to a file that import accepts."`
		Observations exportObservationsCmd `cmd:"" help:"Write the observations of a database to a file that import accepts."`
		Advisories   exportAdvisoriesCmd   `cmd:"" help:"Write the official statements of a database to a file that import accepts."`
	} `cmd:"" group:"Take data out:" help:"Write the map for hosts without a server, or the data as files for import."`
	Accuracy accuracyCmd `cmd:"" group:"Take data out:" help:"Compare the values of satellites with samples, and their classes with official statements."`
	Plan     planCmd     `cmd:"" group:"Take data out:" help:"Say where samples would tell most this week, and why."`
	Backup   backupCmd   `cmd:"" group:"Take data out:" help:"Copy the database to a file while servers and imports use it."`
	Warm     warmCmd     `cmd:"" group:"Operate:" help:"Draw tiles in advance into the disk cache of a server."`
	Migrate  migrateCmd  `cmd:"" group:"Operate:" help:"Bring the tables of a database of an older limnomap up to date."`
	Cache    struct {
		Stats cacheStatsCmd `cmd:"" help:"Count the tiles by style and zoom."`
		Purge cachePurgeCmd `cmd:"" help:"Remove tiles: all, the damaged ones, or those that the flags select."`
	} `cmd:"" group:"Operate:" help:"Inspect and clean the tile cache on disk, also while a server uses it."`
	Keys struct {
		Create keysCreateCmd `cmd:"" help:"Create an API key and print it, once."`
		Rotate keysRotateCmd `cmd:"" help:"Create a new key that replaces another, and print it, once. For some time both are valid."`
		List   keysListCmd   `cmd:"" help:"List the API keys: name, state, scopes and last use."`
		Revoke keysRevokeCmd `cmd:"" help:"Revoke an API key."`
	} `cmd:"" group:"Operate:" help:"Manage the API keys of the keyed endpoints."`
	Hooks struct {
		Create     hooksCreateCmd     `cmd:"" help:"Create a webhook, and print its id and its secret, once."`
		List       hooksListCmd       `cmd:"" help:"List the webhooks: state, events that wait, the last error."`
		Test       hooksTestCmd       `cmd:"" help:"Send one request to a webhook to test it: exit code 1 if that fails."`
		Set        hooksSetCmd        `cmd:"" help:"Pause a webhook, or go on with one that is paused or dead."`
		Rotate     hooksRotateCmd     `cmd:"" help:"Create a new secret of a webhook and print it, once. For some time both sign."`
		Deliveries hooksDeliveriesCmd `cmd:"" help:"List the last attempts to send to a webhook."`
		Delete     hooksDeleteCmd     `cmd:"" help:"Delete a webhook."`
	} `cmd:"" group:"Operate:" help:"Manage webhooks: HTTP requests that tell other programs of events."`
	Push struct {
		Keys pushKeysCmd `cmd:"" help:"Create the key with which notifications are signed (VAPID), and print it."`
	} `cmd:"" group:"Operate:" help:"Prepare notifications in browsers."`
	Config      configCmd      `cmd:"" group:"Operate:" passthrough:"" help:"Print the settings of a command as YAML for --config, with the origin of each value."`
	Healthcheck healthcheckCmd `cmd:"" group:"Operate:" help:"Check whether a running server is healthy: exit code 0 or 1."`
	Version     versionCmd     `cmd:"" group:"Operate:" help:"Print the version, as --version and -v do."`

	ConfigFile string `name:"config" help:"YAML file with the values of flags." placeholder:"FILE"`

	LogFormat string          `help:"Format of the log on stderr: ${enum}." enum:"text,json" default:"text"`
	LogLevel  config.LogLevel `help:"Lowest level that is logged: debug, info, warn or error. With debug every request is logged; otherwise at most 100 per second each of the answered, the refused and the failed ones." default:"info" reload:""`
}

// renamed returns the flags and commands of earlier versions that were removed, and what to use in their place.
func renamed() map[string]string {
	names := map[string]string{
		"--answer-memory":            "it is an eighth of the memory limit (GOMEMLIMIT or the cgroup), or 256MiB without one",
		"--metrics-rate":             "it is 120 requests per minute and client address; --admin-listen has no limit",
		"--log-requests":             "it is 100 requests per second of each kind; --log-level debug logs all requests",
		"--max-total":                "it is 8GiB; import larger tables with limnomap import",
		"--refresh-max-total":        "it is 8GiB; import larger tables with limnomap import",
		"--max-raster-bytes":         "it is 8GiB",
		"--refresh-max-raster-bytes": "it is 8GiB",
		"--forecast-force":           "use limnomap forecast --force",
		"import swimguide":           "limnomap import advisories imports such documents",
		"backtest":                   "use limnomap forecast --test",
		"places":                     "docs/importing.md says how a list of places is made",
		"hooks pause":                "use limnomap hooks set ID --state paused",
		"hooks resume":               "use limnomap hooks set ID --state active",
		"cache verify":               "use limnomap cache purge --damaged",
		"extract":                    "use limnomap import rasters --csv FILE",
		"extract rasters":            "use limnomap import rasters --csv FILE",
	}
	for name := range strings.FieldsSeq("product variable band scale source inside shore min-pixels min-share without-outline statistic") {
		const now = "each source has its own: write refresh: [{from: FOLDER, product: cyan}] in the configuration file"
		names["--refresh-"+name], names["refresh --"+name] = now, now
	}
	return names
}

// An invocation is limnomap with one command line.
type invocation struct {
	*config.Invocation
	cli *cli
}

// parse reads and checks the settings of a command line. It returns nil if --help was asked for.
func parse(args []string, stdout, stderr io.Writer) (*invocation, error) {
	c := new(cli)
	inv, err := config.Parse(c, args, &config.Options{
		Description: description,
		Vars:        vars(),
		Rules:       rules,
		Renamed:     renamed(),
		Stdout:      stdout,
		Stderr:      stderr,
	})
	if err != nil || inv == nil {
		return nil, err
	}
	return &invocation{inv, c}, nil
}

// vars are the values of ${name} in the tags of flags.
func vars() kong.Vars {
	var profiles, styles, colormaps []string
	for _, p := range data.Profiles() {
		profiles = append(profiles, p.ID)
	}
	for _, s := range render.Styles() {
		styles = append(styles, string(s.ID))
	}
	for _, id := range colormap.IDs() {
		colormaps = append(colormaps, string(id))
	}
	return kong.Vars{
		"profiles":        strings.Join(profiles, ","),
		"styles":          strings.Join(styles, ","),
		"style":           styles[0],
		"cachedstyles":    strings.Join(append(styles, string(tiles.VectorStyle)), ","),
		"colormaps":       strings.Join(colormaps, ","),
		"colormap":        string(colormap.Default),
		"products":        productNames(),
		"event_kinds":     eventKindNames(),
		"max_zoom":        strconv.Itoa(render.MaxZoom),
		"max_world_lakes": strconv.Itoa(demo.MaxWorldLakes),
		"max_world_weeks": strconv.Itoa(demo.MaxWorldWeeks),
		"world_until":     demo.WorldUntil,
	}
}
