package api

import (
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"

	"limnomap/api/answer"
	"limnomap/api/auth"
	"limnomap/api/joinwrites"
	"limnomap/api/middleware"
	"limnomap/api/ratelimit"
	"limnomap/api/table"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/tiles"
)

// A Server is the whole HTTP surface. It is safe for concurrent use.
type Server struct {
	opts    Options // as given to New; see adjustable for those that may change
	logger  *slog.Logger
	now     func() time.Time
	prefix  string // the path of the root, as the outside sees it
	handler http.Handler

	options       *middleware.Setting[Adjustable]
	adjusting     sync.Mutex // one Adjust at a time
	logQuota      *middleware.LogQuota
	adminLogQuota *middleware.LogQuota
	freshness     *middleware.Freshness
	metrics       *middleware.Metrics
	tracer        *middleware.Tracer
	limits        *limits
	keyring       *auth.Keyring
	sender        *answer.Sender
	errors        *answer.Errors
	encoder       *encoder

	styleIDs    []tiles.StyleID // the default first
	colormapIDs []colormap.ID   // the default first
	colormaps   map[colormap.ID]*colormap.Map
	legends     *lru.Cache[legendKey, []byte]
	page        *page
	table       *table.Table
	openAPI     *answer.Body

	lastCapabilities atomic.Pointer[drawnCapabilities]

	current           atomic.Pointer[published]
	reloadFailedSince atomic.Pointer[time.Time] // nil if the last reload of the snapshot worked
	reloadFailures    prometheus.Counter
	refreshed         atomic.Pointer[data.Refresh] // state of the database's refreshes; nil before the first report
	draining          atomic.Bool
}

// New returns a Server that answers 503 until its first snapshot is published.
func New(opts Options) (*Server, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s := &Server{
		opts:        opts,
		logger:      opts.Logger,
		now:         opts.Now,
		prefix:      prefixOf(opts.PublicURL, opts.BasePath),
		colormapIDs: colormap.IDs(),
		colormaps:   make(map[colormap.ID]*colormap.Map),
		sender:      answer.NewSender(opts.sending),
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.opts.Registry == nil {
		s.opts.Registry = prometheus.NewRegistry()
	}
	s.errors = answer.NewErrors(errorStatuses, s.logger)
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	basemap, err := middleware.BasemapOrigin(opts.BasemapURL)
	if err != nil {
		return nil, fmt.Errorf("api: basemap: %w", err)
	}
	registry := s.opts.Registry
	s.options = middleware.NewSetting(&opts.Adjustable)
	s.logQuota = middleware.NewLogQuota(opts.LogRequests, s.now())
	s.adminLogQuota = middleware.NewLogQuota(opts.LogRequests, s.now())
	s.freshness = middleware.NewFreshness(s.now)
	s.metrics = middleware.NewMetrics(registry, s.now)
	s.tracer = middleware.NewTracer(opts.Tracer, opts.TraceRatio, func() []netip.Prefix { return s.adjustable().TrustedProxies }, s.now)
	s.limits = newLimits(ratelimit.NewGroup(ratelimit.Config{Quota: opts.Quota, Now: s.now, Logger: s.logger, Registerer: registry}), &opts.Adjustable)
	s.keyring = auth.NewKeyring(auth.Config{
		Store:        opts.Keys,
		LimitKeys:    s.limits.keys.AllowBy(ratelimit.KeyName),
		LimitRefused: s.limits.refused.AllowBy(ratelimit.Address),
		Now:          s.now,
		Logger:       s.logger,
		Registerer:   registry,
	})
	s.reloadFailures = newReloadFailures()
	s.registerMetrics()
	s.handler = s.chain(s.router(), basemap)
	return s, nil
}

// load prepares what never changes: styles, colours, the page and the description of the API.
func (s *Server) load() error {
	for _, style := range s.opts.Styles {
		s.styleIDs = append(s.styleIDs, style.ID)
	}
	for _, id := range s.colormapIDs {
		m, err := colormap.New(id, s.opts.Limits)
		if err != nil {
			return fmt.Errorf("colour map %s: %w", id, err)
		}
		s.colormaps[id] = m
	}
	s.encoder = newEncoder(s.colormaps[s.colormapIDs[0]])
	var err error
	if s.legends, err = lru.New[legendKey, []byte](maxLegends); err != nil {
		return err
	}
	if s.page, err = loadPage(s.sender, s.opts.Page); err != nil {
		return err
	}
	if s.table, err = table.New(s.opts.Table, s.colormaps[s.colormapIDs[0]]); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	style, err := fs.ReadFile(s.opts.Table, "table/table.css")
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if err := s.page.add(s.opts.Table, "table.css", style); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	s.openAPI, err = s.sender.Prepare(settingsKind, []byte(openAPIDocument))
	return err
}

// chain puts the middleware around the router, the outermost first.
func (s *Server) chain(router http.Handler, basemapOrigin string) http.Handler {
	return middleware.Wrap(router,
		middleware.RequestID,
		s.options.Middleware(func(a *Adjustable) middleware.Middleware { return middleware.ClientAddr(a.TrustedProxies) }),
		middleware.AccessLog(s.logger, s.logQuota, s.now),
		middleware.Recover(s.logger),
		s.options.Middleware(func(a *Adjustable) middleware.Middleware {
			return middleware.SecurityHeaders(basemapOrigin, a.FrameAncestors, s.opts.HSTS)
		}),
		middleware.Notice(s.opts.Notice),
		middleware.Age(s.freshness),
		s.options.Middleware(func(a *Adjustable) middleware.Middleware { return middleware.CORS(a.AllowedOrigins) }),
		middleware.RequestBounds,
		joinwrites.Handler,
	)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// AdminHandler serves /metrics, /healthz, /readyz and pprof, for a listener that only operators reach.
func (s *Server) AdminHandler() http.Handler {
	admin := http.NewServeMux()
	admin.Handle("/healthz", answer.ReadOnly(s.errors.Handler(s.healthy)))
	admin.Handle("/readyz", answer.ReadOnly(s.errors.Handler(s.ready)))
	admin.Handle("/metrics", answer.ReadOnly(s.errors.Handler(s.exposition())))
	admin.HandleFunc("/debug/pprof/", pprof.Index)
	admin.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	admin.HandleFunc("/debug/pprof/profile", pprof.Profile)
	admin.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	admin.HandleFunc("/debug/pprof/trace", pprof.Trace)
	admin.Handle("/", s.errors.Handler(notFound))
	return middleware.Wrap(admin,
		middleware.RequestID,
		s.options.Middleware(func(a *Adjustable) middleware.Middleware { return middleware.ClientAddr(a.TrustedProxies) }),
		middleware.AccessLog(s.logger, s.adminLogQuota, s.now),
		middleware.Recover(s.logger),
		middleware.AdminHeaders,
		middleware.RequestBounds,
	)
}
