package api

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"

	"github.com/paulmach/orb"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/cql2"
	"limnomap/api/edr"
	"limnomap/api/features"
	"limnomap/data"
	"limnomap/data/index"
	"limnomap/data/pixels"
)

// pathLakePixels is the folder of the queries for pixels.
const pathLakePixels = features.Path + "/lakes/"

// lakePixels are the pixels of lakes.
var lakePixels = &edr.Collection[*cell]{
	ID: "lakes", Title: "Pixels", Things: "pixels",
	Kinds:   []edr.Kind{edr.Locations, edr.Position, edr.Radius, edr.Area, edr.Cube},
	Instead: "ask for those of one lake and day at /api/v1/bathing-lakes/pixels/{lake_id}",
	Columns: append(pixelCells[:3:3], pixelColumns...),
	About:   "lake_id,source",
	Day:     "date",
	Key: func(c *cell) string {
		return fmt.Sprintf("%s:%d:%d", observationKey{string(c.of.LakeID), c.of.Date, data.Satellite, c.of.Source}, c.column, c.row)
	},
	Place:   func(c *cell) orb.Point { return c.center },
	Lattice: func(c *cell) (*edr.Lattice, int, int) { return c.lattice, c.column, c.row },
	Parameters: []edr.Parameter{
		{Column: "chl", Label: "Chlorophyll a", Unit: "ug/L", Symbol: "µg/l"},
		{Column: "who_level", Label: "Level of the World Health Organization"},
		{Column: "state", Label: "What the pixel is", Categories: []string{"value", "below_limit", "no_data", "ice", "out_of_range"}},
	},
}

// lakePixels returns a handler that answers with the pixels of lakes that a query asks for.
func (h *featureHandlers) lakePixels(kind edr.Kind) func(http.ResponseWriter, *http.Request, *published) error {
	return func(w http.ResponseWriter, r *http.Request, p *published) error {
		q, err := lakePixels.Parse(r, kind)
		if err == nil && kind == edr.Radius {
			q.Select.Area, err = boxAround(q.Place, q.Metres)
		}
		if err != nil {
			return err
		}
		lakes, err := h.lakesOf(r, p, q, h.lakesWithoutShore, reachOf)
		if err != nil {
			return err
		}
		return lakePixels.Answer(h.service, w, r, q, func(visit func(*cell) bool) error {
			found, err := h.walkPixels(r, p, q, lakes, visit)
			if err == nil && !found && kind == edr.Position {
				err = errNoPixelHere
			}
			return err
		})
	}
}

// boxAround returns a box that contains what is within a distance of a place.
func boxAround(place orb.Point, metres int) (*cql2.Area, error) {
	high := float64(metres+1) / metresPerDegree
	south, north, wide := max(place[1]-high, -90), min(place[1]+high, 90), 180.
	if south > -90 && north < 90 {
		wide = 180 / math.Pi * math.Asin(min(math.Sin(high*math.Pi/180)/math.Cos(place[1]*math.Pi/180), 1))
	}
	west, east := place[0]-wide, place[0]+wide
	if wide >= 180 {
		west, east = -180, 180
	} else {
		west, east = math.Remainder(west, 360), math.Remainder(east, 360)
	}
	return cql2.BoxArea(orb.Point{west, south}, orb.Point{east, north}, nil)
}

// metresPerDegree is the length of a degree of a meridian, rounded down.
const metresPerDegree = 111_194

// errNoPixelHere is about a position.
var errNoPixelHere = &answer.Problem{Status: http.StatusNotFound, Detail: "No pixel of a lake is kept at this position.",
	Errors: []answer.ParameterError{{Parameter: "coords", Detail: "no pixel here in this time; ask for an area to see where there are some"}}}

// lakesWithoutShore returns the lakes around a place that may have pixels there.
func (h *featureHandlers) lakesWithoutShore(p *published, place orb.Point) (lakes []int) {
	for _, n := range p.lookup.places.Nearest(p.snap.Lakes, place, grownMetres, grownLakes) {
		if p.snap.Lakes[n.Lake].Outline == "" {
			lakes = append(lakes, n.Lake)
		}
	}
	return lakes
}

// reachOf returns where the pixels of a lake may be: in its outline, or without one as far from its point as water that belongs to it.
func reachOf(l *data.Lake) *cql2.Shape {
	if s, _ := shapeOf(l, true); s.Rings != nil {
		return &s
	}
	high := float64(grownMetres) / metresPerDegree
	wide := min(high/math.Cos(l.Point[1]*math.Pi/180), 180)
	b := orb.Bound{Min: orb.Point{l.Point[0] - wide, max(l.Point[1]-high, -90)}, Max: orb.Point{l.Point[0] + wide, min(l.Point[1]+high, 90)}}
	if b.Min[0] < -180 {
		b.Min[0] += 360
		b.Max[0] += 360
	}
	return &cql2.Shape{Point: l.Point, Bound: b, Points: 5, Rings: func() iter.Seq[[]orb.Point] {
		return func(yield func([]orb.Point) bool) { yield(b.ToRing()) }
	}}
}

// errEnough ends a walk through pixels.
var errEnough = errors.New("enough")

// The costs of a pixel that is only unpacked, of one whose place is computed, and of one on a projected grid.
const (
	costUnpacked  = 1
	costPlaced    = 4
	costProjected = 64
)

// walkPixels visits the pixels of lakes that a query asks for, lake by lake and the newest first. It reports whether there was any.
func (h *featureHandlers) walkPixels(r *http.Request, p *published, q *edr.Query, lakes []int, visit func(*cell) bool) (found bool, err error) {
	if h.opts.Pixels == nil || p.snap.Pixels.Count == 0 {
		return false, nil
	}
	days, cost := daysOf(&q.Select), 0
	days.Last = min(days.Last, p.snap.AsOf.Last())
	var refused error
	err = h.askStore(r, errStore, func(ctx context.Context) error {
		for _, i := range lakes {
			lake := &p.snap.Lakes[i]
			err := h.opts.Pixels.PixelPasses(ctx, lake.ID, days, func(date data.Date, source string, packed pixels.Packed) error {
				if err := ctx.Err(); err != nil {
					return err
				}
				o := &data.Observation{LakeID: lake.ID, Date: date, Source: source}
				m, err := unpack(o, packed)
				if err != nil {
					return err
				}
				each := costUnpacked
				if q.Kind != edr.Position {
					if each = costPlaced; !m.Grid.System().Geographic() {
						each = costProjected
					}
					if q.Select.Area != nil {
						each += q.Select.Area.Cost(&cql2.Shape{Point: lake.Point})
					}
				}
				if cost += each * len(m.Codes); cost > edr.MaxCost {
					refused = q.TooManyPixels()
					return errEnough
				}
				return visitPass(m, lake, o, p.snap.Profile, q, func(c *cell) bool {
					found = true
					return visit(c)
				})
			})
			if errors.Is(err, errEnough) {
				return nil
			}
			if err != nil {
				return err
			}
			if found && q.Kind == edr.Position {
				return nil // of the nearest lake that has one
			}
		}
		return nil
	})
	if err == nil {
		err = refused
	}
	return found, err
}

// visitPass visits the pixels of a pass that a query asks for.
func visitPass(m *pixels.Map, lake *data.Lake, o *data.Observation, profile *data.Profile, q *edr.Query, visit func(*cell) bool) error {
	center := func(column, row int) (orb.Point, bool) {
		return m.Grid.LonLat(float64(column)+.5, float64(row)+.5, lake.Point)
	}
	lattice := latticeOf(m, lake.Point[0])
	newCell := func(column, row int, code pixels.Code) *cell {
		return &cell{of: o, profile: profile, column: column, row: row, code: code, lattice: lattice}
	}
	if q.Kind == edr.Position {
		column, row, code, ok := m.At(q.Place)
		if !ok {
			return nil
		}
		c := newCell(column, row, code)
		if c.center, ok = center(column, row); !ok {
			return errUnplaced(o)
		}
		if !visit(c) {
			return errEnough
		}
		return nil
	}
	var err error
	m.Each(func(x, y int, code pixels.Code) {
		if err != nil {
			return
		}
		at, ok := center(x, y)
		if !ok {
			err = errUnplaced(o)
			return
		}
		if q.Select.Area != nil && !q.Select.Area.Contains(at) || q.Kind == edr.Radius && index.Metres(q.Place, at) > q.Metres {
			return
		}
		c := newCell(x, y, code)
		if c.center = at; !visit(c) {
			err = errEnough
		}
	})
	return err
}

// latticeOf returns where the pixels of a map are, in the turn around the Earth that is near a longitude.
func latticeOf(m *pixels.Map, lon float64) *edr.Lattice {
	t := m.Grid.Transform()
	l := &edr.Lattice{Origin: [2]float64{t[0] + (t[1]+t[2])/2, t[3] + (t[4]+t[5])/2}, Step: [2]float64{t[1], t[5]}}
	if m.Grid.System().Geographic() {
		l.Origin[0] += 360 * math.Round((lon-l.Origin[0]-t[1]*float64(m.Mask.Bounds().Min.X))/360)
	}
	if system, ok := coordinates.Of(m.Grid.System()); ok && t[2] == 0 && t[4] == 0 {
		l.System = system
	}
	return l
}
