package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"limnomap/api"
	"limnomap/api/ratelimit"
	"limnomap/api/ratelimit/quota"
	"limnomap/cmd/limnomap/config"
	"limnomap/data/events/eventlog"
	"limnomap/data/events/push/notify"
	"limnomap/data/ingest/refresh"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/render/vector"
	"limnomap/tiles"
	"limnomap/tiles/admission"
	"limnomap/tiles/disk"
	"limnomap/web"
)

// serveCmd is the server. Its fields are the table of its settings: see package config.
type serveCmd struct {
	Listen      string        `help:"Address to serve on, ${default} by default." default:"127.0.0.1:8080" check:"address" placeholder:"HOST:PORT" group:"Serving"`
	AdminListen string        `help:"Serve /metrics and pprof on this address instead of beside the API." check:"address" placeholder:"HOST:PORT" group:"Serving"`
	AdminHosts  []string      `name:"admin-host" help:"Names of this server in requests to the admin listener, such as a name that Prometheus scrapes. IP addresses, names without a dot, the name in --admin-listen and that of the machine are always allowed." check:"host-name" placeholder:"NAME" group:"Serving"`
	Desk        bool          `help:"Serve a form on the admin listener, at /desk/, in which the holder of an API key with the scope advisories closes lakes and opens them again. Needs --admin-listen and --db." group:"Serving"`
	MetricsKey  bool          `help:"Require an API key with the scope metrics for /metrics, as X-API-Key or as a bearer token. Not with --admin-listen." group:"Serving"`
	TLSCert     string        `name:"tls-cert" help:"Certificate chain (PEM): serve HTTPS and HTTP/2. It is read again when it changes." placeholder:"FILE" group:"Serving"`
	TLSKey      string        `name:"tls-key" help:"Private key of the certificate (PEM)." placeholder:"FILE" group:"Serving"`
	HSTS        config.Period `name:"hsts" help:"HSTS max-age, such as 365d: how long browsers use only HTTPS for this host (Strict-Transport-Security). Needs --tls-cert; 0d sends no header. It applies to all ports of the host, and cannot be taken back before it has passed." default:"0d" group:"Serving"`
	BasePath    string        `help:"Path under which everything is served, such as /lakes." check:"base-path" placeholder:"PATH" group:"Serving"`
	PublicURL   string        `help:"URL of this server as clients see it, for the absolute addresses in TileJSON, WMTS and OGC API. Not needed by clients that use the IP address and port that it listens on. A path in it replaces the base path, for a proxy that strips that path." check:"public-url" placeholder:"URL" group:"Serving"`

	TrustedProxies []config.Network `help:"Proxies whose X-Forwarded-* headers are trusted." placeholder:"CIDR" group:"Serving" reload:""`
	CORSOrigins    []string         `name:"cors-origins" help:"Origins whose pages may read the API; all by default." check:"origin" placeholder:"ORIGIN" group:"Serving" reload:""`

	FrameAncestors api.FrameAncestors `help:"Pages that may show the map of /embed in a frame: * (all, the default), self, none, or a list of self and origins such as https://example.org,https://*.example.org:8443." default:"*" list:"" placeholder:"SOURCE,..." group:"Serving" reload:""`

	Drain    time.Duration `help:"After SIGTERM, how long /readyz answers 503 before the listener closes: longer than the check interval of the load balancer." default:"1s" allowed:"0s.." group:"Serving" reload:""`
	Shutdown time.Duration `help:"How long the requests in flight may then take." default:"15s" allowed:"0s.." group:"Serving" reload:""`

	tracingFlags
	sourceFlags
	migrateFlag
	Refresh refreshFlags `embed:"" prefix:"refresh-" group:"Refresh"`

	scheduledForecastFlags `group:"Refresh"`
	matchFlag
	eventFlags
	hookFlags   `group:"Events"`
	pushFlags   `group:"Events"`
	Attribution string `help:"Attribution of the data, shown on the map and in TileJSON before the credit lines of satellite products." placeholder:"TEXT" group:"Data" reload:""`
	contactFlags
	linkFlags

	MaxZoom            int    `help:"Highest zoom of the tiles, 0 to ${max_zoom}." default:"18" allowed:"0..${max_zoom}" group:"Map"`
	BasemapURL         string `name:"basemap-url" help:"URL template of the page's basemap, with {z}, {x} and {y}, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png. With none, the default, the page draws its own coasts, borders and large rivers, and readers ask no other server for tiles." default:"none" check:"basemap-url" group:"Map"`
	BasemapLabelsURL   string `name:"basemap-labels-url" help:"URL template of a layer with only the basemap's labels, which the page shows above the heat map, or none. The basemap should then have no labels of its own." default:"none" check:"basemap-url" group:"Map"`
	BasemapAttribution string `help:"Attribution of the basemap." default:"© OpenStreetMap contributors" group:"Map"`
	Places             string `help:"List of places and postcodes that the page searches in place of its own one of Germany and the larger places of the world: a file that web/mkplaces.mjs made." placeholder:"FILE" group:"Map"`

	CacheMemory config.ByteSize `help:"Maximum size of the tile cache in memory." default:"64MiB" allowed:"1MiB.." group:"Cache"`
	cacheFlags

	APIRate  int             `help:"Requests per minute and client address to the open endpoints; 0 is no limit." default:"300" allowed:"0.." group:"Limits" reload:""`
	TileRate int             `help:"Requests per minute and client address for tiles; 0 is no limit." default:"6000" allowed:"0.." group:"Limits" reload:""`
	KeyRate  int             `help:"Requests per minute and API key; 0 is no limit." default:"600" allowed:"0.." group:"Limits" reload:""`
	Redis    config.Location `help:"Redis server for rate limits that several servers share: redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS. While it is unreachable, each server uses local rate limits. Prefer LIMNOMAP_REDIS: command lines are visible to other users." placeholder:"URL" check:"redis" group:"Limits"`

	connectionFlags

	LogAddresses string `help:"How much of the addresses of clients the log has: ${enum}. Short is their network: /24 of IPv4, /48 of IPv6." enum:"full,short,none" default:"short" group:"Serving" reload:""`
}

func (serveCmd) Help() string {
	return `The page is at /, the API is described by /openapi.json, metrics are at /metrics.
With --refresh-from the server refreshes its database itself, every 7d unless --refresh-every is set (see limnomap refresh
--help). Of several servers with one database, one does it each time. The body of /readyz and /metrics show the result.
SIGHUP makes it read the configuration file, the files of secrets and the certificate again; the log names the settings
that need a restart. SIGTERM stops the server when the requests in flight are answered; a second signal stops it at once.`
}

// Check checks the settings that depend on each other, and the files that the server needs. It completes settings that
// depend on others.
func (c *serveCmd) Check(context.Context) error {
	c.BasePath = cleanBasePath(c.BasePath)
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fmt.Errorf("--tls-cert %q with --tls-key %q: HTTPS needs both files, HTTP neither", c.TLSCert, c.TLSKey)
	case c.HSTS > 0 && c.TLSCert == "":
		return errors.New("--hsts needs --tls-cert: browsers ignore it over HTTP, and a proxy with the certificate sends it itself")
	case c.MetricsKey && c.AdminListen != "":
		return errors.New("--metrics-key with --admin-listen: metrics on their own listener need no key")
	case len(c.AdminHosts) > 0 && c.AdminListen == "":
		return errors.New("--admin-host needs --admin-listen: the public listener is open to every host name")
	case c.MetricsKey && !c.DB.IsSet():
		return errors.New("--metrics-key needs --db: the demo has one key, which is public")
	case c.BasemapLabelsURL != noBasemap && c.BasemapURL == noBasemap:
		return errors.New("--basemap-labels-url needs a --basemap-url other than none: the labels belong to a basemap")
	case len(c.Refresh.From) == 0 && !c.Refresh.Every.IsZero():
		return errors.New("--refresh-every needs --refresh-from: a folder or a URL")
	case len(c.Refresh.From) == 0 && len(c.Refresh.Prefer) > 0:
		return errors.New("--refresh-prefer needs --refresh-from: each refresh stores the order")
	case len(c.Refresh.From) == 0 && c.Forecast:
		return errors.New("--forecast needs --refresh-from: forecasts are made after each refresh; limnomap forecast makes them once")
	case !c.DB.IsSet() && (c.HooksAllowHTTP || len(c.HooksAllow) > 0):
		return errors.New("--hooks-allow and --hooks-allow-http need --db: the demo sends no webhooks")
	case len(c.Refresh.From) > 0 && !c.DB.IsSet():
		return errors.New("--refresh-from needs --db: the demo is not refreshed")
	}
	if err := c.checkDesk(); err != nil {
		return err
	}
	if err := c.checkConnections(); err != nil {
		return err
	}
	if err := c.checkPush(c.DB.IsSet()); err != nil {
		return err
	}
	if len(c.Refresh.From) > 0 {
		if c.Refresh.Every.IsZero() {
			c.Refresh.Every = config.Every(config.Period(7 * config.Day))
		}
		if err := c.Refresh.check("--refresh-"); err != nil {
			return err
		}
	}
	if err := c.checkSource(len(c.Refresh.From) > 0); err != nil {
		return err
	}
	if _, err := c.contact(); err != nil {
		return err
	}
	_, err := c.openCertificate(prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	return err
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, con *console) (err error) {
	hangups, stopHangups := catchHangups() // first: without this, SIGHUP ends the process
	defer stopHangups()
	if err := c.Check(ctx); err != nil {
		return err
	}
	shown, err := c.open(ctx, len(c.Refresh.From) > 0, c.upgrade(c.DB.Reveal(), con.log))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.close()) }()
	if shown.store != nil && shown.store.ReadOnly() != "" {
		con.log.Warn("nothing can be written to the database: it is only read until it can be written to again; no restart is needed", "reason", shown.store.ReadOnly())
	}

	defer limitGarbage(context.WithoutCancel(ctx))() // until the last request is answered
	registry := prometheus.NewRegistry()
	c.warnOfEnvironment(con.log)
	traces, err := c.openTraces(registry, con.log)
	if err != nil {
		return err
	}
	defer traces.close()
	refresher, err := c.newRefresher(shown, traces.tracer(), con.log)
	if err != nil {
		return err
	}
	cert, err := c.openCertificate(registry, con.log)
	if err != nil {
		return err
	}
	sharedQuota, closeQuota, err := c.openQuota(con.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeQuota()) }()
	diskCache, closeDisk, err := c.openDiskCache(registry, con.log)
	if err != nil {
		return err
	}
	defer closeDisk()
	processors := spareProcessor()
	turns := newTurns(processors, registry)
	defer turns.Close()
	weekReads := newWeekReads()
	defer weekReads.Close()
	histories := newHistoryTurns(shown.store)
	defer histories.Close()
	memory := newAnswerBudget(answerMemory())
	tileService, err := c.newTiles(shown, diskCache, turns, histories, memory, registry, traces.tracer(), con.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tileService.Close()) }()

	limiters := c.newLimiters(c.trustedProxies(), registry, con.log)
	source := traceSource(shown.Source, traces.tracer())
	now := newClock(ctx, shown, registry, con.log)
	events, err := c.newEventLog(ctx, shown, now, registry, con.log)
	if err != nil {
		return err
	}
	notifier, pushKey, err := c.newNotifier(shown, events, now, registry, con.log)
	if err != nil {
		return err
	}
	opts := api.Options{
		MapOptions:  c.mapOptions(shown, tileService),
		Version:     buildVersion(),
		CommandLine: con.invocation.CommandLine(),
		Registry:    registry,
		Logger:      con.log,
		Tracer:      traces.tracer(),
		TraceRatio:  c.TraceRatio,
		Now:         now.Now,
		ClockDoubt:  now.Doubt,
		Standby:     shown.standby(registry),
	}
	if opts.Adjustable, err = c.adjustable(con.level.Level()); err != nil {
		return err
	}
	if opts.DataOptions, err = c.dataOptions(shown, source, events, notifier, pushKey); err != nil {
		return err
	}
	if opts.PageOptions, err = c.pageOptions(); err != nil {
		return err
	}
	if opts.AccessOptions, err = c.accessOptions(); err != nil {
		return err
	}
	if c.Desk {
		opts.Desk = deskStatements{shown.store, now.Now}
	}
	opts.Keys, opts.Quota, opts.Memory = shown.Keys, sharedQuota, memory
	opts.Turns, opts.WeekReads, opts.Histories = turns, weekReads, histories
	server, err := api.New(opts)
	if err != nil {
		return err
	}
	published := make(chan struct{}, 1)
	watcher := newWatcher(source, shown, server, events, published, con.log)
	defer watchNotifications(ctx, shown.store, watcher)()
	s := &serving{
		flags:     c,
		notice:    shown.notice,
		clock:     now,
		log:       con.log,
		server:    server,
		watcher:   watcher,
		published: published,
		compare:   make(chan struct{}, 1),
		events:    events,
		notifier:  notifier,
		webhooks:  c.newDeliverer(shown, events, now, server, registry, con.log),
		refresher: refresher,
		cert:      cert,
		limiters:  limiters,
		reloader:  newReloader(con, server, cert, limiters, registry),
		hangups:   hangups,
	}
	if isTerminal(con.err) {
		s.terminal = con.err
	}
	return s.run(ctx)
}

// dataOptions returns where the data come from, and who stores the subscriptions to notifications; notifier is nil if there are none.
func (c *serveCmd) dataOptions(shown *source, from snapshot.Source, events api.EventLog, notifier *notify.Sender, pushKey notify.Key) (opts api.DataOptions, err error) {
	opts = api.DataOptions{Historian: from, Issues: from, Events: events, Notice: shown.notice, Credits: creditsOf}
	opts.MatchDays = c.MatchDays
	if shown.store != nil {
		opts.Pixels, opts.Comparisons = shown.store, shown.store
	}
	if notifier != nil {
		opts.Subscriptions, opts.PushKey, opts.PushClient = shown.store, pushKey.Public(), pushKey.Client
		opts.PushServices, err = c.pushServices()
	}
	return opts, err
}

// mapOptions returns what draws the map.
func (c *serveCmd) mapOptions(shown *source, service *tiles.Service) api.MapOptions {
	return api.MapOptions{Tiles: service, Legends: legends{}, Pictures: pictures{}, Styles: render.Styles(), Limits: shown.limits(),
		RendererVersion: render.Version, MaxZoom: c.MaxZoom}
}

// pageOptions returns the files of the pages and the basemap.
func (c *serveCmd) pageOptions() (opts api.PageOptions, err error) {
	opts = api.PageOptions{Page: web.FS(), Templates: web.Templates()}
	if c.BasemapURL != noBasemap {
		opts.BasemapURL, opts.BasemapAttribution = c.BasemapURL, c.BasemapAttribution
	}
	if c.BasemapLabelsURL != noBasemap {
		opts.BasemapLabelsURL = c.BasemapLabelsURL
	}
	opts.Places, err = readPlaces(c.Places)
	return opts, err
}

// accessOptions returns the addresses of the server and the bounds that the flags set.
func (c *serveCmd) accessOptions() (opts api.AccessOptions, err error) {
	opts = api.AccessOptions{
		BasePath: c.BasePath, HSTS: time.Duration(c.HSTS), SeparateAdmin: c.AdminListen != "", AdminHosts: c.adminHosts(), MetricsKey: c.MetricsKey,
		Requests: requestsInFlight(),
	}
	if c.PublicURL != "" {
		if opts.PublicURL, err = parsePublicURL(c.PublicURL); err != nil {
			return opts, fmt.Errorf("--public-url: %w", err)
		}
	}
	return opts, nil
}

// adjustable returns the options that a reload may change; level is that of the log.
func (c *serveCmd) adjustable(level slog.Level) (opts api.Adjustable, err error) {
	opts = api.Adjustable{
		Attribution:    c.Attribution,
		FrameAncestors: c.FrameAncestors,
		APIRate:        c.APIRate,
		TileRate:       c.TileRate,
		KeyRate:        c.KeyRate,
		MetricsRate:    metricsRate,
		LogRequests:    requestsLogged(level),
		LogAddresses:   api.LogAddresses(c.LogAddresses),
		TrustedProxies: c.trustedProxies(),
		Links:          api.Links{Imprint: c.ImprintURL, Privacy: c.PrivacyURL, Accessibility: c.AccessibilityURL},
	}
	for _, text := range c.CORSOrigins {
		origin, err := canonicalOrigin(text)
		if err != nil {
			return opts, fmt.Errorf("--cors-origins: %w", err)
		}
		opts.AllowedOrigins = append(opts.AllowedOrigins, origin)
	}
	opts.Contact, err = c.contact()
	return opts, err
}

func (c *serveCmd) trustedProxies() (proxies []netip.Prefix) {
	for _, n := range c.TrustedProxies {
		proxies = append(proxies, n.Prefix)
	}
	return proxies
}

// metricsRate is how many requests per minute a client address may send for /metrics on the public listener.
const metricsRate = 120

// requestsLogged returns how many requests per second are logged, of each of the answered, the refused and the failed ones; 0 is no limit.
func requestsLogged(level slog.Level) int {
	if level <= slog.LevelDebug {
		return 0
	}
	return 100
}

// adminHosts returns the names under which the admin listener may be asked.
func (c *serveCmd) adminHosts() []string {
	names := slices.Clone(c.AdminHosts)
	if host, _, err := net.SplitHostPort(c.AdminListen); err == nil && host != "" {
		names = append(names, host)
	}
	if machine, err := os.Hostname(); err == nil {
		names = append(names, machine)
	}
	return names
}

// newRefresher returns what refreshes the database, or nil without --refresh-from.
func (c *serveCmd) newRefresher(shown *source, tracer trace.Tracer, log *slog.Logger) (*refresh.Refresher, error) {
	if len(c.Refresh.From) == 0 {
		return nil, nil
	}
	return c.Refresh.refresher(shown.store, c.after(shown.store, restWhileServing, log), tracer, log)
}

// openCertificate returns the certificate of the server, or nil without TLS.
func (c *serveCmd) openCertificate(registry prometheus.Registerer, log *slog.Logger) (*certificate, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	cert, err := openCertificate(c.TLSCert, c.TLSKey, time.Now, log)
	if err != nil {
		return nil, err
	}
	return cert, cert.measure(registry)
}

// openQuota returns the rate limits that servers share, or nil without --redis.
func (c *serveCmd) openQuota(log *slog.Logger) (_ ratelimit.Quota, closeQuota func() error, err error) {
	if !c.Redis.IsSet() {
		return nil, func() error { return nil }, nil
	}
	shared, err := quota.Open(c.Redis.Reveal())
	if err != nil {
		return nil, nil, fmt.Errorf("--redis: %w", err)
	}
	log.Info("rate limits are shared", "redis", shared.Address())
	return shared, shared.Close, nil
}

// openDiskCache returns the disk cache of tiles, or nil without one.
func (c *serveCmd) openDiskCache(registry prometheus.Registerer, log *slog.Logger) (_ tiles.Disk, closeDisk func(), err error) {
	metrics := disk.NewMetrics(registry) // also without a disk cache
	dir := c.folder(log)
	if dir == "" {
		return nil, func() {}, nil
	}
	cache, err := c.openCache(dir, log, metrics)
	if err != nil {
		return nil, nil, err
	}
	return cache, func() { cache.Close() }, nil
}

// newTiles returns the service that draws and caches tiles.
func (c *serveCmd) newTiles(shown *source, diskCache tiles.Disk, turns, histories *admission.Turns, memory *admission.Budget, registry prometheus.Registerer, tracer trace.Tracer, log *slog.Logger) (*tiles.Service, error) {
	opts := tiles.Options{
		MemoryBytes: int64(c.CacheMemory),
		Disk:        diskCache,
		MaxZoom:     maptile.Zoom(c.MaxZoom),
		Variant:     shown.options.Profile.ID,
		Vectors:     vector.New(shown.limits()),
		Turns:       turns,
		Client:      api.ClientIn,
		Logger:      log,
		Registerer:  registry,
		Tracer:      tracer,
	}
	if shown.store != nil {
		opts.Pixels, opts.Memory = pixelReader{shown.store, histories}, memory
	}
	return tiles.New(render.New(shown.limits()), &opts)
}

// newWatcher returns what loads the data again when they change, and publishes them. It sends to published after each, unless a value waits there.
func newWatcher(source snapshot.Source, shown *source, server *api.Server, events *eventlog.Keeper, published chan<- struct{}, log *slog.Logger) *snapshot.Watcher {
	// Whether a snapshot is being served, and whether it is the last one; only the watcher's goroutine uses these.
	serving, latest := false, false
	watcher := &snapshot.Watcher{
		Source:  source,
		Options: &shown.options,
		Publish: func(s *snapshot.Snapshot) {
			// The garbage of the loading becomes room for the answers.
			runtime.GC()
			err := server.Publish(s)
			if latest = err == nil; !latest {
				server.SnapshotReloadFailed(err)
			} else {
				events.Offer(s)
			}
			if !serving {
				// Memory that is free now is returned to the operating system at once only when there are hardly any requests yet: it takes a
				// tenth of a second, in which any stop of the world waits, and with it all requests. Later limitGarbage does it when the server is
				// quiet.
				debug.FreeOSMemory()
				warnOfOldData(log, s)
			}
			serving = serving || latest
			if latest {
				select {
				case published <- struct{}{}:
				default:
				}
			}
		},
		Confirmed: func(at time.Time) {
			if latest {
				lag, _ := shown.lag()
				server.Confirmed(at.Add(-lag))
			}
		},
		Failed: server.SnapshotReloadFailed,
	}
	if shown.store != nil {
		watcher.Outcome, watcher.Refreshed = shown.store.Refresh, server.DatabaseRefreshed
	}
	return watcher
}

// warnOfOldData tells an operator why no lake has a colour.
func warnOfOldData(log *slog.Logger, s *snapshot.Snapshot) {
	if newest, ok := s.Newest(s.Current.Week); ok && s.Current.WithData == 0 {
		log.Warn("no lake has a current value: all are older than --stale-after; for an archive give --as-of data",
			"newest", newest.String(), "age_days", int(s.Current.AsOf-newest))
	}
}
