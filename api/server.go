package api

import (
	"fmt"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"sync"

	"limnomap/api/answer"
	"limnomap/api/auth"
	"limnomap/api/joinwrites"
	"limnomap/api/middleware"
	"limnomap/api/ratelimit"
	"limnomap/api/route"
)

// A Server is the whole HTTP surface. It is safe for concurrent use.
type Server struct {
	opts      Options // with the first values of the adjustable ones
	snapshots *snapshots
	health    *health
	keyring   *auth.Keyring

	adjusting     sync.Mutex // one Adjust at a time
	options       *middleware.Setting[Adjustable]
	limits        *limits
	logQuota      *middleware.LogQuota
	adminLogQuota *middleware.LogQuota

	errors   *answer.Errors
	measures *measures
	handlers *handlers
	handler  http.Handler
}

// New returns a Server that answers 503 until its first snapshot is published.
func New(opts Options) (*Server, error) {
	if err := opts.check(); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s, err := build(opts.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	return s, nil
}

// build makes the parts of a Server and puts them together.
func build(opts Options) (*Server, error) {
	maps, err := newColormaps(opts.Limits)
	if err != nil {
		return nil, err
	}
	basemapOrigin, err := middleware.BasemapOrigin(opts.BasemapURL)
	if err != nil {
		return nil, fmt.Errorf("basemap: %w", err)
	}
	sender := answer.NewSender(opts.sending)
	s := &Server{
		opts:          opts,
		snapshots:     &snapshots{sender: sender, encoder: newEncoder(maps.byID[maps.ids[0]]), rendererVersion: opts.RendererVersion},
		options:       middleware.NewSetting(&opts.Adjustable),
		limits:        newLimits(ratelimit.NewGroup(ratelimit.Config{Quota: opts.Quota, Now: opts.Now, Logger: opts.Logger, Registerer: opts.Registry}), &opts.Adjustable),
		logQuota:      middleware.NewLogQuota(opts.LogRequests, opts.Now()),
		adminLogQuota: middleware.NewLogQuota(opts.LogRequests, opts.Now()),
	}
	s.health = newHealth(s.snapshots, middleware.NewFreshness(opts.Now), opts.Logger, opts.Now)
	s.keyring = auth.NewKeyring(auth.Config{
		Store:        opts.Keys,
		LimitKeys:    s.limits.keys.AllowBy(ratelimit.KeyName),
		LimitRefused: s.limits.refused.AllowBy(ratelimit.Address),
		Now:          opts.Now,
		Logger:       opts.Logger,
		Registerer:   opts.Registry,
	})
	s.errors = answer.NewErrors(errorStatuses, opts.Logger)
	s.measures = &measures{
		basePath: opts.BasePath,
		tracer:   middleware.NewTracer(opts.Tracer, opts.TraceRatio, func() []netip.Prefix { return s.adjustable().TrustedProxies }, opts.Now),
		metrics:  middleware.NewMetrics(opts.Registry, opts.Now),
	}
	registerMetrics(&opts, s.snapshots, s.health)
	if s.handlers, err = newHandlers(&opts, maps, s.snapshots, s.health, s.adjustable); err != nil {
		return nil, err
	}
	s.handler = s.chain(s.router(), basemapOrigin)
	return s, nil
}

// measures measure and trace the requests of routes.
type measures struct {
	basePath string
	tracer   *middleware.Tracer
	metrics  *middleware.Metrics
}

// route measures and traces the requests of one route. The pattern is empty for routes without one.
func (m *measures) route(name, pattern string, h http.Handler) http.Handler {
	if pattern != "" {
		pattern = m.basePath + pattern
	}
	return middleware.Wrap(h, m.tracer.Route(name, pattern), m.metrics.Route(name))
}

// router returns the router of all routes.
func (s *Server) router() http.Handler {
	g := &guards{limits: s.limits, keyring: s.keyring, metricsKey: s.opts.MetricsKey}
	page := s.handlers.page
	router := route.New(s.opts.BasePath, s.measures.route("not_found", "", s.limits.api.By(ratelimit.Address)(s.errors.Handler(notFound))))
	for _, entry := range s.handlers.routes(g, !s.opts.SeparateAdmin) {
		router.Handle(entry.path, s.measures.route(entry.name, entry.path, entry.guard(s.errors.Handler(entry.Handler))))
	}
	router.HandleMatch(page.has, s.measures.route("page", "", g.unlimited(s.errors.Handler(page.file))))
	if s.opts.BasePath != "" {
		// Addresses in the page are relative to its folder, whose path ends with a slash.
		root := http.RedirectHandler(prefixOf(s.opts.PublicURL, s.opts.BasePath)+"/", http.StatusPermanentRedirect)
		router.Handle("", s.measures.route("page", "", g.unlimited(root)))
	}
	return router
}

// chain puts the middleware around the router, the outermost first.
func (s *Server) chain(router http.Handler, basemapOrigin string) http.Handler {
	return middleware.Wrap(router,
		middleware.RequestID,
		s.options.Middleware(func(a *Adjustable) middleware.Middleware { return middleware.ClientAddr(a.TrustedProxies) }),
		middleware.AccessLog(s.opts.Logger, s.logQuota, s.opts.Now),
		middleware.Recover(s.opts.Logger),
		s.options.Middleware(func(a *Adjustable) middleware.Middleware {
			return middleware.SecurityHeaders(basemapOrigin, a.FrameAncestors, s.opts.HSTS)
		}),
		middleware.Notice(s.opts.Notice),
		middleware.Age(s.health.freshness),
		s.options.Middleware(func(a *Adjustable) middleware.Middleware { return middleware.CORS(a.AllowedOrigins) }),
		middleware.RequestBounds,
		joinwrites.Handler,
	)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// AdminHandler serves /metrics, /healthz, /readyz and pprof, for a listener that only operators reach.
func (s *Server) AdminHandler() http.Handler {
	admin := http.NewServeMux()
	admin.Handle("/healthz", answer.ReadOnly(s.errors.Handler(s.health.healthy)))
	admin.Handle("/readyz", answer.ReadOnly(s.errors.Handler(s.health.ready)))
	admin.Handle("/metrics", answer.ReadOnly(s.errors.Handler(s.handlers.metrics)))
	admin.HandleFunc("/debug/pprof/", pprof.Index)
	admin.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	admin.HandleFunc("/debug/pprof/profile", pprof.Profile)
	admin.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	admin.HandleFunc("/debug/pprof/trace", pprof.Trace)
	admin.Handle("/", s.errors.Handler(notFound))
	return middleware.Wrap(admin,
		middleware.RequestID,
		s.options.Middleware(func(a *Adjustable) middleware.Middleware { return middleware.ClientAddr(a.TrustedProxies) }),
		middleware.AccessLog(s.opts.Logger, s.adminLogQuota, s.opts.Now),
		middleware.Recover(s.opts.Logger),
		middleware.AdminHeaders,
		middleware.RequestBounds,
	)
}
