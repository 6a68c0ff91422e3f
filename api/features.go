package api

import (
	"iter"
	"net/http"
	"slices"

	"github.com/paulmach/orb"

	"limnomap/api/cql2"
	"limnomap/api/features"
	"limnomap/api/ogc"
	"limnomap/api/route"
	"limnomap/data"
)

// featureHandlers answer requests of OGC API - Features.
type featureHandlers struct {
	*lakeHandlers
	events  *eventHandlers
	ogc     *ogc.Service
	service *features.Service
}

// described returns what a list of collections says about those of the published snapshot.
func (h *featureHandlers) described(base string) (all []any) {
	p, err := h.published()
	if err != nil {
		return nil
	}
	for _, c := range h.collections(p) {
		all = append(all, h.describedOne(c, base, p))
	}
	return all
}

// describedOne returns what a list of collections says about one.
func (h *featureHandlers) describedOne(c *features.Collection, base string, p *published) any {
	description := c.Describe(base, h.ogc.Extent(p.state))
	switch c.ID {
	case series.ID:
		series.Describe(base, description)
	case lakePixels.ID:
		lakePixels.Describe(base, description)
	}
	return description
}

// collections returns what can be asked for of a snapshot.
func (h *featureHandlers) collections(p *published) []*features.Collection {
	return []*features.Collection{h.lakes(p), h.observations(p), h.statements(p), h.changes(p)}
}

// of returns the handler of requests for the collection that the path names.
func (h *featureHandlers) of(handle func(http.ResponseWriter, *http.Request, *published, *features.Collection) error) func(http.ResponseWriter, *http.Request, *published) error {
	return func(w http.ResponseWriter, r *http.Request, p *published) error {
		all := h.collections(p)
		i := slices.IndexFunc(all, func(c *features.Collection) bool { return c.ID == route.Values(r)[0] })
		if i < 0 {
			return errNoCollection
		}
		return handle(w, r, p, all[i])
	}
}

// items answers with a page of features.
func (h *featureHandlers) items(w http.ResponseWriter, r *http.Request, p *published, c *features.Collection) error {
	return h.service.Items(w, r, c, p.state.Updated)
}

// item answers with one feature.
func (h *featureHandlers) item(w http.ResponseWriter, r *http.Request, _ *published, c *features.Collection) error {
	return h.service.Item(w, r, c, route.Values(r)[1])
}

// queryables answers with the properties by which features can be selected.
func (h *featureHandlers) queryables(w http.ResponseWriter, r *http.Request, _ *published, c *features.Collection) error {
	return h.service.Queryables(w, r, c)
}

// describe answers with what a list of collections says about one.
func (h *featureHandlers) describe(w http.ResponseWriter, r *http.Request, p *published, c *features.Collection) error {
	return h.ogc.Describe(w, r, func(base string) any { return h.describedOne(c, base, p) })
}

// description answers with the description of all collections.
func (h *featureHandlers) description(w http.ResponseWriter, r *http.Request, p *published) error {
	return h.service.Description(w, r, h.collections(p), slices.Concat(series.Operations(), lakePixels.Operations())...)
}

// checkBy returns what checks a key that parse reads.
func checkBy[K any](parse func(string) (K, error)) func(key string) error {
	return func(key string) error {
		_, err := parse(key)
		return err
	}
}

// finest is the zoom of outlines in features.
const finest = 16

// shapeOf returns the place of a lake, with its shore if it is asked for and known.
func shapeOf(l *data.Lake, outlines bool) (cql2.Shape, bool) {
	if !outlines || l.Outline == "" {
		return cql2.Shape{Point: l.Point}, true
	}
	shore := l.Outline
	return cql2.Shape{Point: l.Point, Bound: shore.Bound(), Points: len(shore) / bytesOfPoint, Rings: func() iter.Seq[[]orb.Point] {
		return shore.Rings(finest, new([]orb.Point))
	}}, true
}

// bytesOfPoint is about what a point of an outline takes in all zooms together.
const bytesOfPoint = 6
