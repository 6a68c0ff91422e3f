package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"limnomap/api"
	"limnomap/api/quota"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/refresh"
	"limnomap/data/store"
	"limnomap/render"
	"limnomap/render/legend"
	"limnomap/render/vector"
	"limnomap/tiles"
	"limnomap/tiles/disk"
	"limnomap/web"
)

type serveCmd struct {
	Listen      string `help:"Address to serve on, ${default} by default." default:"127.0.0.1:8080" placeholder:"HOST:PORT" group:"Serving"`
	AdminListen string `help:"Serve /metrics and pprof on this address instead of beside the API." placeholder:"HOST:PORT" group:"Serving"`
	MetricsKey  bool   `help:"Let only those read /metrics who bear an API key of the scope metrics, as X-API-Key or as a bearer token. Not with --admin-listen." group:"Serving"`
	TLSCert     string `name:"tls-cert" help:"Certificate (PEM, with the ones that signed it): serve HTTPS, and HTTP/2. Read anew when it changes." placeholder:"FILE" group:"Serving"`
	TLSKey      string `name:"tls-key" help:"Private key of the certificate (PEM)." placeholder:"FILE" group:"Serving"`
	HSTS        period `name:"hsts" help:"How long browsers are to come back to this host by HTTPS alone (Strict-Transport-Security), such as 365d, where it is served by --tls-cert; 0d says nothing of it. It holds for all of the host's ports, and cannot be taken back before it has passed." default:"0d" group:"Serving"`
	BasePath    string `help:"Path under which everything is served, such as /lakes." placeholder:"PATH" group:"Serving"`
	PublicURL   string `help:"What the outside calls this server, for the absolute addresses in TileJSON. A path in it stands instead of the base path: behind a proxy that strips it." placeholder:"URL" group:"Serving"`

	TrustedProxies []network `help:"Proxies whose X-Forwarded-* headers are believed." placeholder:"CIDR" group:"Serving" reload:""`
	CORSOrigins    []string  `name:"cors-origins" help:"Origins whose pages may read the API; any by default." placeholder:"ORIGIN" group:"Serving" reload:""`

	FrameAncestors api.FrameAncestors `help:"Whose pages may show the map of /embed in a frame: * (any, the default), self, none, or a list of self and origins such as https://example.org,https://*.example.org:8443." default:"*" placeholder:"SOURCE,..." group:"Serving" reload:""`

	Drain    time.Duration `help:"After SIGTERM, how long /readyz says 503 before the listener closes: longer than the load balancer's interval." default:"1s" group:"Serving" reload:""`
	Shutdown time.Duration `help:"How long requests in flight may then take to finish." default:"15s" group:"Serving" reload:""`

	tracingFlags
	sourceFlags
	Refresh     refreshFlags `embed:"" prefix:"refresh-" group:"Data"`
	Attribution string       `help:"Whose data these are, shown on the map and in TileJSON." placeholder:"TEXT" group:"Data" reload:""`

	MaxZoom            int    `help:"Largest zoom that tiles are drawn for, 0 to 20." default:"18" group:"Map"`
	BasemapURL         string `name:"basemap-url" help:"Address template of the page's basemap, with {z}, {x} and {y}; none turns it off." default:"https://tile.openstreetmap.org/{z}/{x}/{y}.png" group:"Map"`
	BasemapAttribution string `help:"Attribution of the basemap." default:"© OpenStreetMap contributors" group:"Map"`

	CacheMemory byteSize `help:"Bound of the tiles kept in memory." default:"64MiB" group:"Cache"`
	cacheFlags

	APIRate  int `help:"Requests a minute per client address to the open endpoints; 0 is no limit." default:"300" group:"Limits" reload:""`
	TileRate int `help:"Requests a minute per client address for tiles; 0 is no limit." default:"6000" group:"Limits" reload:""`
	KeyRate  int `help:"Requests a minute per API key; 0 is no limit." default:"600" group:"Limits" reload:""`

	Redis string `help:"Redis server through which several servers share their limits: redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], or rediss:// for TLS. While it is away each goes by its own. Better said by LIMNOMAP_REDIS, which no list of processes shows." placeholder:"URL" secret:"" group:"Limits"`

	LogRequests int `help:"Requests a second that are logged: so many of those answered, of those refused and of those failed. The next line of a kind says how many were left out; 0 leaves out none." default:"100" group:"Limits" reload:""`
}

func (serveCmd) Help() string {
	return `The page is at /, the interface is described by /openapi.json, metrics are at /metrics.
With --refresh-from the server refreshes its database itself, every 7d unless --refresh-every says otherwise (limnomap refresh
--help tells how); of several servers with one database one does it each time. What became of it is in the body of /readyz
and in /metrics.
SIGHUP has it read its configuration file, the files of secrets and the certificate anew: what cannot change while it runs
is named in the log. SIGTERM ends the server when the requests in flight are answered; a second signal ends it at once.`
}

// Run serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, con *console) (err error) {
	hangups, ignore := catchHangups() // from the first moment on: one ends nothing
	defer ignore()
	opts, err := c.check()
	if err != nil {
		return err
	}
	if err := c.checkRefresh(); err != nil {
		return err
	}
	shown, err := c.open(ctx, len(c.Refresh.From) > 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, shown.close()) }()

	limitMemory(os.DirFS("/"), os.LookupEnv, con.log)
	registry := prometheus.NewRegistry()
	c.warnOfEnvironment(con.log)
	traces, err := c.openTraces(registry, con.log)
	if err != nil {
		return err
	}
	defer traces.close()
	refresher, err := c.refresher(shown, traces.tracer(), con.log)
	if err != nil {
		return err
	}
	cert, err := c.certificate(registry, con.log)
	if err != nil {
		return err
	}
	if c.Redis != "" {
		var shared *quota.Redis
		if shared, err = quota.Open(c.Redis); err != nil {
			return fmt.Errorf("--redis: %w", err)
		}
		defer func() { err = errors.Join(err, shared.Close()) }()
		opts.Quota = shared
		con.log.Info("rate limits are shared", "redis", shared.Address())
	}
	limits := shown.limits()
	var diskCache tiles.Disk
	diskMetrics := disk.NewMetrics(registry) // without a disk cache too
	if dir := c.folder(con.log); dir != "" {
		cache, err := c.openCache(dir, con.log, diskMetrics)
		if err != nil {
			return err
		}
		defer cache.Close()
		diskCache = cache
	}
	tileService, err := tiles.New(render.New(limits), &tiles.Options{
		MemoryBytes: int64(c.CacheMemory),
		Disk:        diskCache,
		MaxZoom:     maptile.Zoom(c.MaxZoom),
		Variant:     shown.options.Profile.ID,
		Vectors:     vector.New(limits),
		Logger:      con.log,
		Registerer:  registry,
		Tracer:      traces.tracer(),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tileService.Close()) }()

	opts.Tracer, opts.TraceRatio = traces.tracer(), c.TraceRatio
	asked := traceSource(shown.Source, opts.Tracer)
	opts.Tiles, opts.Historian, opts.Keys = tileService, asked, shown.Keys
	opts.Legends, opts.Styles, opts.Limits = legends{}, render.Styles(), limits
	opts.Page, opts.Table = web.FS(), web.Table()
	opts.Version, opts.RendererVersion = buildVersion(), render.Version
	opts.Notice = shown.notice
	opts.Registry, opts.Logger = registry, con.log
	server, err := api.New(opts)
	if err != nil {
		return err
	}

	heap := newHeap(os.LookupEnv)
	tuning, stopTuning := context.WithCancel(ctx)
	defer stopTuning()
	go heap.run(tuning) // until the server has ended
	whole := false      // whether what was published last is what is served
	watcher := &data.Watcher{
		Source:  heapSource{asked, heap},
		Options: &shown.options,
		Publish: func(s *data.Snapshot) {
			debug.FreeOSMemory() // what loading left, before the answers are made
			err := server.Publish(s)
			if whole = err == nil; !whole {
				server.RefreshFailed(err)
			}
			heap.settle()
		},
		Confirmed: func(at time.Time) {
			if whole {
				server.Confirmed(at)
			}
		},
		Failed: server.RefreshFailed,
	}
	if shown.store != nil {
		watcher.Outcome, watcher.Refreshed = shown.store.Refresh, server.Refreshed
	}
	defer listen(ctx, shown.store, watcher)()
	reloads := newReloader(con, server, cert, registry)
	return c.serve(ctx, con.log, server, watcher, refresher, cert, shown.notice, reloads, hangups)
}

// listen has the watcher woken by a database that tells of imports, until the function that it returns is called.
func listen(ctx context.Context, s store.Store, watcher *data.Watcher) (stop func()) {
	listener, ok := s.(store.Listener)
	if !ok {
		return func() {}
	}
	wake := make(chan struct{}, 1)
	watcher.Wake = wake
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { listener.Listen(ctx, wake) })
	return func() {
		cancel()
		group.Wait()
	}
}

// refresher returns what refreshes the database, nil if nobody asked for it.
func (c *serveCmd) refresher(shown *source, tracer trace.Tracer, log *slog.Logger) (*refresh.Refresher, error) {
	if len(c.Refresh.From) == 0 {
		return nil, nil
	}
	return c.Refresh.refresher(shown.store, tracer, log)
}

// serve listens, keeps the snapshot, the database and the certificate, where they are to be kept, fresh, and ends all in order when ctx ends.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger, server *api.Server, watcher *data.Watcher, refresher *refresh.Refresher, cert *certificate, notice string, reloads *reloader, hangups <-chan os.Signal) error {
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	listener = api.Joined(listener)
	defer listener.Close() // for the returns before Serve takes it over
	drain := new(drain)
	main := newHTTPServer(drain.handler(server), log)
	if cert != nil {
		main.TLSConfig = cert.config()
	}
	main.ConnContext = api.ConnContext
	listeners := map[*http.Server]net.Listener{main: listener}
	if c.AdminListen != "" {
		adminListener, err := net.Listen("tcp", c.AdminListen)
		if err != nil {
			return fmt.Errorf("--admin-listen: %w", err)
		}
		defer adminListener.Close()
		admin := newHTTPServer(server.AdminHandler(), log)
		admin.WriteTimeout = 0 // a CPU profile takes as long as it is asked to
		listeners[admin] = adminListener
		log.Info("metrics and pprof", "url", addressOf(admin, adminListener)+"/metrics")
	}
	manager, err := openServiceManager(log)
	if err != nil {
		return err
	}
	address := addressOf(main, listener) + c.BasePath + "/"
	if notice != "" {
		log.Warn("serving the embedded demo: "+notice, "open", address)
	} else {
		log.Info("serving", "db", store.Name(c.DB), "open", address)
	}

	// Connections are taken from here on; whether there are data yet is for /readyz to say, as a database that is away may
	// be for longer than a service manager waits.
	manager.tell(daemon.SdNotifyReady)

	// The group's goroutines end when ctx does (the watchers, the notes of keys), or when Shutdown has closed the listeners
	// (the servers).
	group, ctx := errgroup.WithContext(ctx)
	for s, l := range listeners {
		group.Go(func() error { return serveOn(s, &loudListener{Listener: l, log: log}) })
	}
	if cert != nil {
		group.Go(func() error {
			cert.watch(ctx)
			return nil
		})
	}
	if refresher != nil {
		group.Go(func() error {
			refresher.Run(ctx, c.Refresh.Every)
			return nil
		})
	}
	group.Go(func() error {
		watcher.Run(ctx)
		return nil
	})
	group.Go(func() error {
		server.NoteKeyUses(ctx)
		return nil
	})
	group.Go(func() error {
		manager.run(ctx, main.Handler, c.BasePath+"/healthz")
		return nil
	})
	group.Go(func() error {
		reloads.run(ctx, hangups, manager)
		server.Drain()
		manager.tell(daemon.SdNotifyStopping)
		now := reloads.serving()
		log.Info("stopping: /readyz now says so", "drain", now.Drain)
		return drain.end(listeners, now.Drain, now.Shutdown)
	})
	err = group.Wait()
	log.Info("stopped")
	return err
}

// certificate returns what connections are secured with, nil without TLS.
func (c *serveCmd) certificate(registry prometheus.Registerer, log *slog.Logger) (*certificate, error) {
	if c.TLSCert == "" {
		return nil, nil
	}
	cert, err := openCertificate(c.TLSCert, c.TLSKey, time.Now, log)
	if err != nil {
		return nil, err
	}
	return cert, cert.measure(registry)
}

// legends gives api the renderer's legends without api's knowing the renderer.
type legends struct{}

func (legends) LegendPNG(m *colormap.Map, width, scale int) ([]byte, error) {
	return legend.PNG(m, width, scale)
}

func (legends) LegendSVG(m *colormap.Map, width int) ([]byte, error) {
	return legend.SVG(m, width)
}
