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
  limnomap config serve`

// cli is the whole command line, one struct for each command. The tags are explained in package config.
type cli struct {
	Serve  serveCmd `cmd:"" help:"Serve the map and the data over HTTP."`
	Import struct {
		Lakes        importLakesCmd        `cmd:"" help:"Import lakes."`
		Observations importObservationsCmd `cmd:"" help:"Import measurements and forecasts of lakes."`
		Advisories   importAdvisoriesCmd   `cmd:"" help:"Import official statements about lakes, such as closures."`
		SwimGuide    importSwimGuideCmd    `cmd:"" name:"swimguide" help:"Import the advisories of documents of Swim Guide's open data standard."`
		Rasters      importRastersCmd      `cmd:"" help:"Import the values of the lakes from satellite files."`
	} `cmd:"" help:"Import files into a database, in one transaction."`
	Extract struct {
		Rasters extractRastersCmd `cmd:"" help:"Write the values of lakes from satellite files to a CSV file."`
	} `cmd:"" help:"Make values of lakes from satellite files, without writing to a database."`
	Refresh  refreshCmd  `cmd:"" help:"Update a database from a folder or URLs, once or on a schedule."`
	Forecast forecastCmd `cmd:"" help:"Forecast the chlorophyll of each lake one to four weeks ahead, from its earlier values."`
	Backtest backtestCmd `cmd:"" help:"Test the forecasts with past years: exit code 1 if they are not worth showing."`
	Warm     warmCmd     `cmd:"" help:"Draw tiles in advance into the disk cache of a server."`
	Export   struct {
		Map          exportCmd             `cmd:"" default:"withargs" help:"Write the map to a PMTiles, an MBTiles or a folder, for hosts without a server. The word map may be left out: export lakes.pmtiles."`
		Lakes        exportLakesCmd        `cmd:"" help:"Write the lakes of a database to a file that import accepts."`
		Observations exportObservationsCmd `cmd:"" help:"Write the observations of a database to a file that import accepts."`
		Advisories   exportAdvisoriesCmd   `cmd:"" help:"Write the official statements of a database to a file that import accepts."`
	} `cmd:"" help:"Write the map for hosts without a server, or the data as files for import."`
	Places placesCmd `cmd:"" help:"Make a list of places, which the page searches, from a CSV file."`
	Backup backupCmd `cmd:"" help:"Copy the database to a file while servers and imports use it."`
	Demo   demoCmd   `cmd:"" help:"Write any number of simulated lakes as CSV files, to try limnomap at scale."`
	Keys   struct {
		Create keysCreateCmd `cmd:"" help:"Create an API key and print it, once."`
		Rotate keysRotateCmd `cmd:"" help:"Create a new key that replaces another, and print it, once. For some time both are valid."`
		List   keysListCmd   `cmd:"" help:"List the API keys: name, state, scopes and last use."`
		Revoke keysRevokeCmd `cmd:"" help:"Revoke an API key."`
	} `cmd:"" help:"Manage the API keys of the keyed endpoints."`
	Hooks struct {
		Create     hooksCreateCmd     `cmd:"" help:"Create a webhook, and print its id and its secret, once."`
		List       hooksListCmd       `cmd:"" help:"List the webhooks: state, events that wait, the last error."`
		Test       hooksTestCmd       `cmd:"" help:"Send one request to a webhook to test it: exit code 1 if that fails."`
		Pause      hooksPauseCmd      `cmd:"" help:"Send no more events to a webhook until it is resumed."`
		Resume     hooksResumeCmd     `cmd:"" help:"Go on with a webhook that is paused or dead."`
		Rotate     hooksRotateCmd     `cmd:"" help:"Create a new secret of a webhook and print it, once. For some time both sign."`
		Deliveries hooksDeliveriesCmd `cmd:"" help:"List the last attempts to send to a webhook."`
		Delete     hooksDeleteCmd     `cmd:"" help:"Delete a webhook."`
	} `cmd:"" help:"Manage webhooks: HTTP requests that tell other programs of events."`
	Push struct {
		Keys pushKeysCmd `cmd:"" help:"Create the key with which notifications are signed (VAPID), and print it."`
	} `cmd:"" help:"Prepare notifications in browsers."`
	Cache struct {
		Stats  cacheStatsCmd  `cmd:"" help:"Count the tiles by style and zoom."`
		Verify cacheVerifyCmd `cmd:"" help:"Read every tile and remove the damaged ones: exit code 1 if there were any."`
		Purge  cachePurgeCmd  `cmd:"" help:"Remove tiles: all, or those that the flags select."`
	} `cmd:"" help:"Inspect and clean the tile cache on disk, also while a server uses it."`
	Config      configCmd      `cmd:"" passthrough:"" help:"Print the settings of a command as YAML for --config, with the origin of each value."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Healthcheck healthcheckCmd `cmd:"" help:"Check whether a running server is healthy: exit code 0 or 1."`

	ConfigFile string `name:"config" help:"YAML file with the values of flags." placeholder:"FILE"`

	LogFormat string          `help:"Format of the log on stderr: ${enum}." enum:"text,json" default:"text"`
	LogLevel  config.LogLevel `help:"Lowest level that is logged: debug, info, warn or error." default:"info" reload:""`
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
