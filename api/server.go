package api

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"limnomap/api/answer"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/tiles"
)

// A Server is the whole HTTP surface. It is safe for concurrent use.
type Server struct {
	opts    Options // as they were given: adjustable has those that may change since
	logger  *slog.Logger
	now     func() time.Time
	prefix  string // the path of the root, as the outside sees it
	handler http.Handler

	adjusted adjusted
	metrics  *metrics
	limits   *limits
	keyring  *keyring
	guesses  *guesses
	sender   *answer.Sender
	errors   *answer.Errors
	encoder  *encoder

	styleIDs    []tiles.StyleID // the default first
	colormapIDs []colormap.ID   // the default first
	colormaps   map[colormap.ID]*colormap.Map
	legends     *lru.Cache[legendKey, []byte]
	page        *page
	table       *table
	openAPI     *answer.Body

	lastCapabilities atomic.Pointer[drawnCapabilities]

	current      atomic.Pointer[published]
	contact      contact
	refreshFault atomic.Pointer[time.Time]    // since when; nil if the last refresh went well
	refreshed    atomic.Pointer[data.Refresh] // what became of the refreshes; nil before anybody told
	draining     atomic.Bool
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
	basemap, err := basemapOrigin(opts.BasemapURL)
	if err != nil {
		return nil, fmt.Errorf("api: basemap: %w", err)
	}
	s.contact.start, s.contact.now = s.now(), s.now
	s.measure()
	s.adjusted.begin(opts.Adjustable, s.now())
	s.limits = newLimits(opts.Adjustable, s.now, newSharing(opts.Quota, s.now, s.logger, s.opts.Registry))
	for _, d := range s.limits.all() {
		s.metrics.watch(d.Load())
	}
	s.keyring = newKeyring(opts.Keys, s.now)
	s.keyring.log = s.logger
	s.keyring.refused = s.metrics.keyRefused
	s.guesses = newGuesses(s.now, s.logger, s.metrics.keyRefused)
	s.handler = s.chain(s.router(), basemap)
	return s, nil
}

// load makes ready what never changes: styles, colours, the page and the description of the API.
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
	if s.table, err = loadTable(s.opts.Table); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	style, err := fs.ReadFile(s.opts.Table, "table/table.css")
	if err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if err := s.page.add(s.opts.Table, tableStyle[1:], style); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	s.openAPI, err = s.sender.Prepare(settingsKind, []byte(openAPIDocument))
	return err
}

// measure sets up the metrics. Whoever shares the registry may have added the process's own already.
func (s *Server) measure() {
	s.metrics = newMetrics(s.opts.Registry, s.now)
	s.metrics.contact = &s.contact
	version := s.opts.Version
	if info, ok := debug.ReadBuildInfo(); ok && version == "" {
		version = info.Main.Version
	}
	s.metrics.build(version, s.opts.RendererVersion)
	s.opts.Registry.MustRegister(&refreshCollector{s})
	for _, c := range []prometheus.Collector{
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		var already prometheus.AlreadyRegisteredError
		if err := s.opts.Registry.Register(c); err != nil && !errors.As(err, &already) {
			s.logger.Warn("process metrics are not exported", slog.Any("error", err))
		}
	}
}

// chain puts the middleware around the router. This is their order, the outermost first.
func (s *Server) chain(router http.Handler, basemapOrigin string) http.Handler {
	return wrap(router,
		withRequestID,
		s.adjusted.with(func(a *Adjustable) middleware { return withClientAddr(a.TrustedProxies) }),
		logRequestsUpTo(s.adjusted.logged, s.logger, s.now),
		recoverPanics(s.logger),
		s.adjusted.with(func(a *Adjustable) middleware {
			return securityHeaders(basemapOrigin, a.FrameAncestors, s.opts.HSTS)
		}),
		withNotice(s.opts.Notice),
		withAge(&s.contact),
		s.adjusted.with(func(a *Adjustable) middleware { return crossOrigin(a.AllowedOrigins) }),
		limitRequest,
		joinWrites,
	)
}

// wrap puts the middleware around h, the first outermost.
func wrap(h http.Handler, around ...middleware) http.Handler {
	for _, m := range slices.Backward(around) {
		h = m(h)
	}
	return h
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
	return wrap(admin,
		withRequestID,
		s.adjusted.with(func(a *Adjustable) middleware { return withClientAddr(a.TrustedProxies) }),
		logRequestsUpTo(s.adjusted.loggedAdmin, s.logger, s.now),
		recoverPanics(s.logger),
		adminHeaders,
		limitRequest,
	)
}
