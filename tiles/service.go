package tiles

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"limnomap/colormap"
	"limnomap/data/snapshot"
	"limnomap/render"
	"limnomap/render/vector"
	"limnomap/tiles/admission"
)

var (
	// ErrBusy is returned when too many tiles wait to be drawn: try again soon.
	ErrBusy = errors.New("too many tiles are waiting to be drawn")
	// ErrOutOfRange is returned for an address that is not a tile, or beyond the largest zoom.
	ErrOutOfRange = errors.New("no such tile")
)

// Callers name styles by these, without knowing the renderer.
type (
	StyleID = render.StyleID
	Style   = render.Style
	Sign    = render.Sign
	Look    = render.Look
	Filter  = render.Filter
	// A Painting is a picture that is not encoded.
	Painting = render.Painting
)

// ForecastStyles returns the styles of tiles of probabilities, the default first. They have the colour map [colormap.Forecast] and no filter.
func ForecastStyles() []Style { return render.ForecastStyles() }

// FilterNames returns the names that ParseFilter reads.
func FilterNames() []string { return render.FilterNames() }

// ParseFilter reads names of classes with commas between them, in any order.
func ParseFilter(s string) (Filter, error) { return render.ParseFilter(s) }

// maxScale is the largest scale that tiles are drawn at.
const maxScale = 2

// A Service serves tiles. It is safe for concurrent use.
type Service struct {
	renderer  Renderer
	options   Options
	metrics   *metrics
	styles    []StyleID
	filtered  []StyleID // those with a filter
	colormaps []colormap.ID
	chances   struct { // of probabilities
		styles    []StyleID
		colormaps []colormap.ID
	}
	blanks       [maxScale]Tile // the blank tiles of scale 1 and 2
	blankVector  Tile
	layers       *layers[snapshot.Values, render.Layer]
	vectorLayers *layers[snapshot.View, vector.Layer]
	memory       *memory
	pixels       *pixelCache
	searches     *flights[unidentified]
	flights      *flights[Sum]
	turns        *admission.Turns
	ownTurns     bool // whether Close ends turns
	closing      sync.Once
}

// New returns a Service that draws missing tiles with r. Close ends it. It starts threads to draw on when the queue is long
// for the first time.
func New(r Renderer, opts *Options) (*Service, error) {
	o, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	pixelBytes := int64(0)
	if o.Pixels != nil {
		pixelBytes = o.MemoryBytes / pixelShare
	}
	m := newMetrics(o.Registerer)
	s := &Service{
		renderer:  r,
		options:   o,
		metrics:   m,
		colormaps: colormap.IDs(),
		memory:    newMemory(o.MemoryBytes-pixelBytes, m),
		pixels:    newPixelCache(pixelBytes),
		searches:  newFlights[unidentified](o.RenderTimeout),
		flights:   newFlights[Sum](o.RenderTimeout),
		turns:     o.Turns,
	}
	if s.turns == nil {
		s.turns, s.ownTurns = admission.NewTurns(admission.TurnsOptions{Count: o.Renders, Waiting: o.Queue}), true
	}
	for _, style := range render.Styles() {
		s.styles = append(s.styles, style.ID)
		if style.Filtered() {
			s.filtered = append(s.filtered, style.ID)
		}
	}
	for _, style := range render.ForecastStyles() {
		s.chances.styles = append(s.chances.styles, style.ID)
	}
	s.chances.colormaps = []colormap.ID{colormap.Forecast}
	s.layers = newLayers(s.buildLayer, shownByValues, maxLayerLakes, m.layerBuilds)
	s.layers.light = (*snapshot.Values).Chances
	s.vectorLayers = newLayers(s.buildVectorLayer, shownByView, maxVectorLayerLakes, m.layerBuilds)
	for i := range s.blanks {
		s.blanks[i] = newBlank(render.Blank(i + 1))
	}
	if o.Vectors != nil {
		b, err := o.Vectors.Empty()
		if err != nil {
			return nil, fmt.Errorf("tiles: %w", err)
		}
		s.blankVector = newBlank(b)
	}
	return s, nil
}

// Close waits for the tiles that are being drawn, and ends the threads. Tiles that are not in memory are ErrBusy from then
// on. It always returns nil; later calls wait for the first.
func (s *Service) Close() error {
	s.closing.Do(func() {
		s.searches.close() // first: they begin flights
		s.flights.close()
		if s.ownTurns {
			s.turns.Close()
		}
	})
	return nil
}

// recoverTo turns a panic of the renderer into an error: on a goroutine that no HTTP server guards it would end the
// process. The stack is logged, since the error does not say where the panic was.
func (s *Service) recoverTo(err *error, doing string) {
	if p := recover(); p != nil {
		s.options.Logger.Error("renderer panicked", "doing", doing, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("renderer panicked while %s: %v", doing, p)
	}
}
