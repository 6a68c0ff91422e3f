package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/pprof"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"limnomap/api/answer"
	"limnomap/api/auth"
	"limnomap/api/desk"
	"limnomap/api/joinwrites"
	"limnomap/api/middleware"
	"limnomap/api/ratelimit"
	"limnomap/api/route"
	"limnomap/data/snapshot"
)

// A Server is the whole HTTP surface. It is safe for concurrent use.
type Server struct {
	common   *common
	health   *health
	keyring  *auth.Keyring
	limits   *limits
	tracer   *middleware.Tracer
	metrics  *middleware.Metrics
	inFlight *middleware.InFlight
	handlers *handlers

	logQuota      *middleware.LogQuota
	adminLogQuota *middleware.LogQuota
	imageOrigins  []string // of the basemap and its labels
	problemPage   answer.ProblemPage
	router        http.Handler
	adjusting     sync.Mutex                   // one Adjust at a time
	handler       atomic.Pointer[http.Handler] // the router with the middleware around it
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
	common, err := newCommon(opts)
	if err != nil {
		return nil, err
	}
	var imageOrigins []string
	for _, template := range []string{opts.BasemapURL, opts.BasemapLabelsURL} {
		origin, err := middleware.BasemapOrigin(template)
		if err != nil {
			return nil, fmt.Errorf("basemap: %w", err)
		}
		if origin != "" && !slices.Contains(imageOrigins, origin) {
			imageOrigins = append(imageOrigins, origin)
		}
	}
	adjustable := common.adjustable()
	s := &Server{
		common:        common,
		health:        newHealth(common),
		limits:        newLimits(ratelimit.NewGroup(ratelimit.Config{Quota: opts.Quota, Now: opts.Now, Logger: opts.Logger, Registerer: opts.Registry}), adjustable),
		tracer:        middleware.NewTracer(opts.Tracer, opts.TraceRatio, common.trustedProxies, opts.Now),
		metrics:       middleware.NewMetrics(opts.Registry, opts.Now),
		inFlight:      middleware.NewInFlight(opts.Requests, common.healthCheck, opts.Registry),
		logQuota:      middleware.NewLogQuota(adjustable.LogRequests, opts.Now()),
		adminLogQuota: middleware.NewLogQuota(adjustable.LogRequests, opts.Now()),
		imageOrigins:  imageOrigins,
	}
	s.keyring = auth.NewKeyring(auth.Config{
		Store:        opts.Keys,
		LimitKeys:    s.limits.keys.Allow,
		LimitRefused: s.limits.refused.Allow,
		Now:          opts.Now,
		Logger:       opts.Logger,
		Registerer:   opts.Registry,
	})
	registerMetrics(s.health)
	if s.handlers, err = newHandlers(common, s.health); err != nil {
		return nil, err
	}
	if opts.Desk != nil {
		if s.handlers.desk, err = newDesk(common, s.keyring, s.handlers.signs.signs); err != nil {
			return nil, fmt.Errorf("desk: %w", err)
		}
	}
	if s.problemPage, err = problemPages(&opts, common.prefix); err != nil {
		return nil, fmt.Errorf("error page: %w", err)
	}
	s.router = s.newRouter()
	s.setHandler()
	return s, nil
}

// measured measures and traces the requests of one route. The pattern is empty for routes without one.
func (s *Server) measured(name, pattern string, h http.Handler) http.Handler {
	if pattern != "" {
		pattern = s.common.opts.BasePath + pattern
	}
	return middleware.Wrap(h, s.tracer.Route(name, pattern), s.metrics.Route(name))
}

// newRouter returns the router of all routes.
func (s *Server) newRouter() http.Handler {
	opts, page := &s.common.opts, s.handlers.page
	router := route.New(opts.BasePath, s.measured("not_found", "", s.limits.api.Handler(s.common.errors.Handler(notFound))))
	for _, entry := range s.handlers.routes(!opts.SeparateAdmin) {
		router.Handle(entry.path, s.measured(entry.name, entry.path, s.guard(entry.access, s.common.errors.Handler(entry.Handler))))
	}
	router.HandleMatch(page.has, s.measured("page", "", s.guard(unlimited, s.common.errors.Handler(page.file))))
	if opts.BasePath != "" {
		// Addresses in the page are relative to its folder, whose path ends with a slash.
		root := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := s.common.prefix + "/"
			if r.URL.RawQuery != "" {
				to += "?" + r.URL.RawQuery
			}
			http.Redirect(w, r, to, http.StatusPermanentRedirect)
		})
		router.Handle("", s.measured("page", "", s.guard(unlimited, root)))
	}
	return router
}

// setHandler puts the middleware around the router, as the present options say.
func (s *Server) setHandler() {
	h := s.chain(s.router)
	s.handler.Store(&h)
}

// chain puts the middleware around the router, the outermost first. Adjust calls it again, so that no middleware may keep state
// in its closure.
func (s *Server) chain(router http.Handler) http.Handler {
	opts, adjustable := &s.common.opts, s.common.adjustable()
	return middleware.Wrap(router,
		middleware.RequestID,
		middleware.ClientAddr(s.common.trustedProxies),
		middleware.AccessLog(opts.Logger, s.logQuota, opts.Now, s.common.logAddresses, s.common.isRoutine),
		middleware.ProblemPages(s.problemPage, opts.BasePath, s.common.prefix),
		middleware.Recover(opts.Logger),
		middleware.SecurityHeaders(s.imageOrigins, adjustable.FrameAncestors, opts.HSTS),
		middleware.Notice(opts.Notice),
		middleware.Age(s.health.freshness),
		middleware.CORS(adjustable.AllowedOrigins),
		s.inFlight.Handler,
		middleware.RequestBounds(s.common.bodyBound),
		joinwrites.Handler,
	)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 {
		growStack()
	}
	(*s.handler.Load()).ServeHTTP(w, r)
}

// growStack makes the stack of its goroutine 16 KiB, as large as a tile from memory needs it inside of all middleware. Net/http answers each request of
// HTTP/2 on a new goroutine with a small stack. When that grows, each frame on it is adjusted. Inside of the middleware that happened twice and took a
// sixth of the processor time of such a tile; here there are few frames.
//
//go:noinline
func growStack() {
	var room [8 << 10]byte
	runtime.KeepAlive(&room)
}

// Publish makes snap the snapshot of every later request. Before that it prepares the large answers, and what tiles have in common: the
// first snapshot as fast as possible, and later ones on a thread of low priority, since requests for the former are answered meanwhile. Of
// the first one, FinishLists prepares the very long lists, and of one with other official statements, which is published at once, all of them.
// Calls must not overlap.
func (s *Server) Publish(snap *snapshot.Snapshot) error {
	publish := func() error { return s.common.publish(snap) }
	var err error
	before := s.common.current.Load()
	if before == nil || onlyStatements(before.snap, snap) {
		err = publish()
	} else {
		err = inBackground(publish)
	}
	if err != nil {
		return fmt.Errorf("publish snapshot %s: %w", snap.Version, err)
	}
	s.health.reloaded(s.common.current.Load().state.MapVersion, before == nil)
	return nil
}

// FinishLists prepares the lists that Publish has left out, for which requests wait, and reports whether there were any. It must be called after each
// Publish, and may run while there are others: a closure must not wait for lists of all lakes.
func (s *Server) FinishLists() bool { return s.common.finishLists() }

// AdminHandler serves /metrics, /healthz, /readyz, pprof and, if there is one, the desk, for a listener that only operators reach. All but /healthz and
// /readyz, which are public elsewhere, check the Host.
func (s *Server) AdminHandler() http.Handler {
	opts, outer, admin := &s.common.opts, http.NewServeMux(), http.NewServeMux()
	outer.Handle(pathHealthy, answer.ReadOnly(s.common.errors.Handler(s.health.healthy)))
	outer.Handle(pathReady, answer.ReadOnly(s.common.errors.Handler(s.health.ready)))
	outer.Handle("/", middleware.Hosts(opts.AdminHosts)(admin))
	admin.Handle(pathMetrics, answer.ReadOnly(s.common.errors.Handler(s.handlers.metrics)))
	admin.HandleFunc("/debug/pprof/", pprof.Index)
	admin.HandleFunc("/debug/pprof/cmdline", func(w http.ResponseWriter, _ *http.Request) { // pprof's own shows passwords
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, opts.CommandLine)
	})
	admin.HandleFunc("/debug/pprof/profile", pprof.Profile)
	admin.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	admin.HandleFunc("/debug/pprof/trace", pprof.Trace)
	admin.Handle("/", s.common.errors.Handler(notFound))
	body := middleware.NoBody
	if d := s.handlers.desk; d != nil {
		pages := middleware.ProblemPages(d.ProblemPage, "", "")(d.Handler(s.common.errors))
		admin.Handle(desk.Path, pages)
		admin.Handle(strings.TrimSuffix(desk.Path, "/"), pages)
		body = func(r *http.Request) int64 {
			if r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, desk.Path) {
				return desk.MaxBody
			}
			return 0
		}
	}
	return middleware.Wrap(outer,
		middleware.RequestID,
		middleware.ClientAddr(s.common.trustedProxies),
		middleware.AccessLog(opts.Logger, s.adminLogQuota, opts.Now, s.common.logAddresses, s.common.isRoutine),
		middleware.Recover(opts.Logger),
		middleware.AdminHeaders,
		middleware.RequestBounds(body),
	)
}
