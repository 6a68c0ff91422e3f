package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"regexp"
	"runtime"
	"time"

	"github.com/paulmach/orb/maptile"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"limnomap/api/answer"
	"limnomap/api/auth"
	"limnomap/api/desk"
	"limnomap/api/params"
	"limnomap/api/ratelimit"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/events/push"
	"limnomap/data/snapshot"
	"limnomap/tiles"
	"limnomap/tiles/admission"
)

// Tiles returns finished tiles; *tiles.Service does.
type Tiles interface {
	Tile(ctx context.Context, v *snapshot.Values, req tiles.Request) (tiles.Tile, error)
	// Paint returns a part of the map in pixels of the zoom and scale of req, which is not encoded.
	Paint(ctx context.Context, v *snapshot.Values, req tiles.Request, part image.Rectangle) (tiles.Painting, error)
	Vector(ctx context.Context, v *snapshot.View, t maptile.Tile) (tiles.Tile, error)
	// Prepare makes what the pictures of v have in common, and PrepareVectors the same for its vector tiles. They are called before v is
	// published.
	Prepare(v *snapshot.View)
	PrepareVectors(v *snapshot.View)
	// Affords reports whether the pictures of v can be made without dropping what those of other views have in common.
	Affords(v *snapshot.Values) bool
}

// Historian returns the history of one lake; a data.Source does.
type Historian interface {
	History(ctx context.Context, id data.LakeID, q data.HistoryQuery) (data.Lake, []data.Observation, error)
}

// Issues returns the forecasts of earlier issues; a data.Source does.
type Issues interface {
	Forecasts(ctx context.Context, issued data.Optional[data.Date], each func(data.LakeForecast) error) (data.ForecastIssue, data.Revision, error)
	LakeForecast(ctx context.Context, id data.LakeID, issued data.Date) (data.ForecastIssue, data.LakeForecast, error)
	ForecastIssues(ctx context.Context) ([]data.ForecastIssue, error)
}

// Legends draws the legend of a colour map and of the symbols of a style, in one of words.Languages.
type Legends interface {
	LegendPNG(m *colormap.Map, look tiles.Look, language string, width, scale int) ([]byte, error)
	LegendSVG(m *colormap.Map, look tiles.Look, language string, width int) ([]byte, error)
	// Legend returns the description of the colours and of signs, for legend.json.
	Legend(m *colormap.Map, signs []tiles.Sign, language string) (any, error)
}

// Options configure a Server, in four groups and what belongs to the process. Fields without a stated default are required. New checks
// what it could not work with. It does not check PublicURL, TraceRatio and Adjustable: the program checks them as it reads its flags.
type Options struct {
	DataOptions
	MapOptions
	PageOptions
	AccessOptions

	Adjustable // the first values; see Adjust

	Version     string               // of the program, for the metrics; empty: that of the build
	CommandLine string               // what AdminHandler serves as the command line of the process, without secrets
	Registry    *prometheus.Registry // nil: a new one
	Logger      *slog.Logger         // nil discards
	Now         func() time.Time     // nil means time.Now
	ClockDoubt  func() string        // why Now may be wrong; empty if it is not. Nil: it never is
	// Standby returns how far the standby that the data are from is behind its primary, and false if they are from none. Nil: they are from none.
	Standby func() (lag time.Duration, standby bool)
	// Tracer starts the spans of that share of the requests, and of those that a trusted proxy's traceparent marks as sampled.
	// Nil: nothing is traced, at no cost.
	Tracer     trace.Tracer
	TraceRatio float64 // 0 to 1; less, or NaN, is none; more is all

	sending answer.Options // tests lower its bounds
}

// DataOptions are where the data that are in no snapshot come from, and what is said about all.
type DataOptions struct {
	Historian Historian
	// Comparisons has what the map is compared with; nil: nothing. MatchDays is how many days a pass and a sample may be apart.
	Comparisons Comparisons
	MatchDays   int
	Pixels      Pixels   // nil: there are none
	Issues      Issues   // nil: there are no earlier ones
	Events      EventLog // nil: an empty one
	// Subscriptions stores who wants notifications, which browsers take only with PushKey, the public key of whoever sends them. Nil: no one can subscribe.
	Subscriptions Subscriptions
	PushKey       string
	PushServices  push.Services // at which browsers may subscribe; empty: none
	// PushClient returns what is stored of the address of who subscribes; see push.Subscription. Needed with Subscriptions.
	PushClient func(netip.Addr) string
	Notice     string // such as "Simulated demo data, not measurements"; empty for real data
	// Credits returns the lines of the providers of satellite values from these sources, each once, in the order in which they are
	// shown. Nil: no provider asks for one.
	Credits func(sources []string) []Credit
}

// MapOptions are what draws the map and its legend.
type MapOptions struct {
	Tiles           Tiles
	Legends         Legends
	Pictures        Pictures
	Styles          []tiles.Style // the default first
	Limits          colormap.Limits
	RendererVersion string // part of ?v=, so that the tiles of another renderer have other addresses
	MaxZoom         int
}

// PageOptions are the files of the pages, and what the map shows beside the lakes.
type PageOptions struct {
	Page               fs.FS  // the page's files, index.html and embed.html among them
	Templates          fs.FS  // the files of the pages that the server makes: templates, styles and words
	BasemapURL         string // template with {z}/{x}/{y}; empty for none
	BasemapLabelsURL   string // template of a layer with the basemap's labels; empty for none
	BasemapAttribution string // of both
	// Places is the gazetteer that the page searches in place of its own, in the format of package data/gazetteer; nil for its own.
	Places []byte
}

// AccessOptions are under which addresses the server answers, to whom, and how much at once.
type AccessOptions struct {
	BasePath string // "/lakes", or empty
	// PublicURL is the address of this server for clients, with a scheme and a host. If it has a path, addresses in answers use it
	// instead of BasePath. Nil: as trusted proxies say, or a Host that is the address of the connection, otherwise relative
	// addresses.
	PublicURL     *url.URL
	HSTS          time.Duration // HSTS max-age; 0: no HSTS
	SeparateAdmin bool          // only AdminHandler serves /metrics
	AdminHosts    []string      // names that AdminHandler accepts besides IP addresses and names without a dot
	// Desk is where AdminHandler writes closures that people decide at the desk. Nil: there is no desk.
	Desk       desk.Statements
	MetricsKey bool       // /metrics needs a key of the scope metrics; not on AdminHandler
	Keys       auth.Store // an auth.UseStore, if the last use of keys is to be stored
	// Quota keeps the buckets of the limits if several servers share them. Nil: the limits are this server's own.
	Quota ratelimit.Quota

	// Memory bounds the answers that are made for one request, all together. Nil: 256 MiB.
	Memory *admission.Budget
	// Turns bound how many long lists and weeks are made at once, with the tiles that share them. Nil: as many as there are
	// processors.
	Turns *admission.Turns
	// WeekReads bound how many weeks that are not in memory are read at once. Nil: one.
	WeekReads *admission.Turns
	// Histories bound how many histories are read from the Historian at once: fewer than its connections, since the server needs
	// some for itself. Nil: 4 at once, and 64 more wait.
	Histories *admission.Turns
	// Requests is how many requests are answered at once; 0: 16,384.
	Requests int
}

// check returns an error for the first missing or invalid option.
func (o *Options) check() error {
	for _, required := range []struct {
		name  string
		given bool
	}{
		{"Tiles", o.Tiles != nil},
		{"Historian", o.Historian != nil},
		{"Keys", o.Keys != nil},
		{"Legends", o.Legends != nil},
		{"Pictures", o.Pictures != nil},
		{"Styles", len(o.Styles) > 0},
		{"Page", o.Page != nil},
		{"Templates", o.Templates != nil},
		{"RendererVersion", o.RendererVersion != ""},
	} {
		if !required.given {
			return fmt.Errorf("option %s is required", required.name)
		}
	}
	if o.MaxZoom < 0 || o.MaxZoom > params.MaxZoom {
		return fmt.Errorf("largest zoom %d is not from 0 to %d", o.MaxZoom, params.MaxZoom)
	}
	if err := CheckBasePath(o.BasePath); err != nil {
		return err
	}
	for _, c := range o.Notice {
		if c < ' ' || c == 0x7f {
			return errors.New("the notice has a control character, which a header field cannot contain")
		}
	}
	return nil
}

// withDefaults returns the options with the defaults of those that are not set.
func (o Options) withDefaults() Options {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Registry = cmp.Or(o.Registry, prometheus.NewRegistry())
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Standby == nil {
		o.Standby = func() (time.Duration, bool) { return 0, false }
	}
	if o.ClockDoubt == nil {
		o.ClockDoubt = func() string { return "" }
	}
	if o.Issues == nil {
		o.Issues = snapshot.NoForecasts{}
	}
	if o.Events == nil {
		o.Events = noEvents{}
	}
	if o.Credits == nil {
		o.Credits = func([]string) []Credit { return nil }
	}
	o.Requests = cmp.Or(o.Requests, 16<<10)
	if o.Memory == nil {
		o.Memory = admission.NewBudget(256 << 20)
	}
	if o.Turns == nil {
		o.Turns = admission.NewTurns(admission.TurnsOptions{Count: runtime.GOMAXPROCS(0), Waiting: 512})
	}
	if o.WeekReads == nil {
		o.WeekReads = admission.NewTurns(admission.TurnsOptions{Count: 1, Waiting: 512, Waits: true})
	}
	if o.Histories == nil {
		o.Histories = admission.NewTurns(admission.TurnsOptions{Count: 4, Waiting: 64, Waits: true})
	}
	o.sending.Memory, o.sending.Turns = o.Memory, o.Turns
	return o
}

var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$`)

// CheckBasePath returns an error unless path is empty or a path such as /lakes. It becomes part of a router's pattern and of
// addresses in answers, so it has no characters to escape.
func CheckBasePath(path string) error {
	if !basePath.MatchString(path) {
		return fmt.Errorf("base path %q: want a path such as /lakes, of letters, digits and ._~-, without a slash at the end", path)
	}
	return nil
}
