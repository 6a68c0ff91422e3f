package ogc

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/tiles"
)

// WMTS answers a request by key and value (WMTS 1.0.0, section 8). Without an operation it sends the capabilities, for
// users who paste the bare address.
func (s *Service) WMTS(w http.ResponseWriter, r *http.Request) error {
	query := params.OfAnyCase(r)
	err := s.operation(w, r, &query)
	var e *exception
	if errors.As(err, &e) {
		return writeExceptions(w, r, []exception{*e})
	}
	if list := exceptionsOf(&query); len(list) > 0 {
		return writeExceptions(w, r, list)
	}
	return err
}

// operation answers with the operation that the request names.
func (s *Service) operation(w http.ResponseWriter, r *http.Request, p *params.Params) error {
	request, asked := p.Text("request")
	describe := !asked || strings.EqualFold(request, "GetCapabilities")
	service, ok := p.Text("service")
	switch {
	case describe && strings.EqualFold(service, "WMS"): // QGIS asks a bare address like this, and reads the answer of WMTS
	case ok && !strings.EqualFold(service, "WMTS"):
		p.Refuse("service", "%s is not WMTS", params.Quote(service))
	case !ok && asked && len(p.Errors()) == 0:
		return &exception{codeMissing, "service", "not given; it is required, and is WMTS"}
	}
	if err := p.Err(); err != nil {
		return err
	}
	switch {
	case describe:
		if err := acceptVersions(p); err != nil {
			return err
		}
		return s.Capabilities(w, r)
	case strings.EqualFold(request, "GetTile"):
		return s.getTile(w, r, p)
	}
	return &exception{codeNotSupported, "request", params.Quote(request) + " is none of GetCapabilities, GetTile"}
}

// acceptVersions agrees on a version with the client (OWS 1.1.0, section 7.3.2).
func acceptVersions(p *params.Params) error {
	versions, ok := p.Text("acceptversions")
	if ok && versions != "" && !slices.Contains(strings.Split(versions, ","), wmtsVersion) {
		return &exception{codeVersion, "acceptversions", params.Quote(versions) + " does not list " + wmtsVersion + ", the only version"}
	}
	return p.Err()
}

// getTile answers with one tile (WMTS 1.0.0, table 29).
func (s *Service) getTile(w http.ResponseWriter, r *http.Request, p *params.Params) error {
	for _, fixed := range []struct{ name, value string }{
		{"version", wmtsVersion}, {"layer", layerName}, {"format", answer.TypePNG}, {"tilematrixset", wmtsMatrices},
	} {
		if got, ok := p.Required(fixed.name); ok && got != fixed.value {
			p.Refuse(fixed.name, "%s is not %s", params.Quote(got), fixed.value)
		}
	}
	t := Tile{Request: s.Default}
	if style, ok := p.Required("style"); ok && style != "" { // QGIS sends an empty one for the default
		t.Style = params.OneOf(p, "style", s.styleIDs())
	}
	zoom, row, column := index(p, "tilematrix"), index(p, "tilerow"), index(p, "tilecol")
	if zoom > s.MaxZoom {
		p.Refuse("tilematrix", "%d is not from 0 to %d", zoom, s.MaxZoom)
	}
	if err := p.Err(); err != nil {
		return err
	}
	last := matrixWidth(zoom) - 1
	if row > last {
		return &exception{codeOutOfRange, "tilerow", fmt.Sprintf("%d is not from 0 to %d", row, last)}
	}
	if column > last {
		return &exception{codeOutOfRange, "tilecol", fmt.Sprintf("%d is not from 0 to %d", column, last)}
	}
	t.Tile = maptile.New(uint32(column), uint32(row), maptile.Zoom(zoom))
	var err error
	if t.State, err = s.Current(); err != nil {
		return err
	}
	if t.Week, t.Dated = Week(p, t.State.Snapshot); p.Err() != nil {
		return p.Err()
	}
	return s.SendTile(w, r, t)
}

// index returns the value of a parameter that must be given: the number of a matrix, a row or a column, in plain digits.
func index(p *params.Params, name string) int {
	s, ok := p.Required(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || len(s) > 1 && s[0] == '0' {
		p.Refuse(name, "%s is not a number from 0 up, in digits", params.Quote(s))
		return 0
	}
	return int(n)
}

func (s *Service) styleIDs() []tiles.StyleID {
	ids := make([]tiles.StyleID, len(s.Styles))
	for i, style := range s.Styles {
		ids[i] = style.ID
	}
	return ids
}
