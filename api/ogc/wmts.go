package ogc

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/maptile"

	"limnomap/api/answer"
	"limnomap/api/coordinates"
	"limnomap/api/params"
	"limnomap/tiles"
	"limnomap/tiles/mosaic"
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
		t, err := s.readTile(p)
		if err != nil {
			return err
		}
		return s.SendTile(w, r, t)
	case strings.EqualFold(request, "GetFeatureInfo"):
		info, err := s.readTileInfo(p)
		if err != nil {
			return err
		}
		return s.SendInfo(w, r, info)
	}
	return &exception{codeNotSupported, "request", params.Quote(request) + " is none of GetCapabilities, GetTile, GetFeatureInfo"}
}

// acceptVersions agrees on a version with the client (OWS 1.1.0, section 7.3.2).
func acceptVersions(p *params.Params) error {
	versions, ok := p.Text("acceptversions")
	if ok && versions != "" && !slices.Contains(strings.Split(versions, ","), wmtsVersion) {
		return &exception{codeVersion, "acceptversions", params.Quote(versions) + " does not list " + wmtsVersion + ", the only version"}
	}
	return p.Err()
}

// readTile reads the parameters of GetTile (WMTS 1.0.0, table 29).
func (s *Service) readTile(p *params.Params) (t Tile, err error) {
	for _, fixed := range []struct{ name, value string }{
		{"version", wmtsVersion}, {"layer", layerName}, {"format", answer.TypePNG}, {"tilematrixset", wmtsMatrices},
	} {
		if got, ok := p.Required(fixed.name); ok && got != fixed.value {
			p.Refuse(fixed.name, "%s is not %s", params.Quote(got), fixed.value)
		}
	}
	t.Request = s.Default
	if style, ok := p.Required("style"); ok && style != "" { // QGIS sends an empty one for the default
		t.Style = params.OneOf(p, "style", s.styleIDs())
	}
	zoom, row, column := index(p, "tilematrix"), index(p, "tilerow"), index(p, "tilecol")
	if zoom > s.MaxZoom {
		p.Refuse("tilematrix", "%d is not from 0 to %d", zoom, s.MaxZoom)
	}
	if err := p.Err(); err != nil {
		return t, err
	}
	last := matrixWidth(zoom) - 1
	if row > last {
		return t, &exception{codeOutOfRange, "tilerow", fmt.Sprintf("%d is not from 0 to %d", row, last)}
	}
	if column > last {
		return t, &exception{codeOutOfRange, "tilecol", fmt.Sprintf("%d is not from 0 to %d", column, last)}
	}
	t.Tile = maptile.New(uint32(column), uint32(row), maptile.Zoom(zoom))
	if t.State, err = s.Current(); err != nil {
		return t, err
	}
	t.Week, t.Dated = Week(p, t.State.Snapshot)
	return t, p.Err()
}

// readTileInfo reads the parameters of GetFeatureInfo (WMTS 1.0.0, table 32). The answer is that of the WMS for the same pixel.
func (s *Service) readTileInfo(p *params.Params) (info Info, err error) {
	if info.Tile, err = s.readTile(p); err != nil {
		return info, err
	}
	info.Count = 1
	info.X, info.Y = point(p, "i", tilePixels), point(p, "j", tilePixels)
	if p.Err() != nil {
		e := exceptionsOf(p)[0]
		return info, &exception{codePointOutOfRange, e.Locator, e.Text}
	}
	if info.Format, err = infoFormat(p, "infoformat", codeInvalid); err != nil {
		return info, err
	}
	system, err := coordinates.Parse(quadCRS)
	if err != nil {
		return info, err
	}
	at := info.Tile.Tile
	side := cellSize(int(at.Z)) * tilePixels
	west, north := float64(at.X)*side-quadEdge, quadEdge-float64(at.Y)*side
	info.Picture = mosaic.Picture{Width: tilePixels, Height: tilePixels, System: system.CRS, Min: orb.Point{west, north - side}, Max: orb.Point{west + side, north}, MaxZoom: s.MaxZoom}
	return info, p.Err()
}

// point reads a coordinate of a pixel, which must be given.
func point(p *params.Params, name string, side int) int {
	if _, ok := p.Required(name); !ok {
		return 0
	}
	return p.Integer(name, 0, side-1, 0)
}

// infoFormat reads the form of an answer about a pixel. An error has that code.
func infoFormat(p *params.Params, name, code string) (string, error) {
	format, _ := p.Text(name)
	if format == "" {
		return InfoFormats[0], nil
	}
	if !slices.Contains(InfoFormats, format) {
		return "", &exception{code, name, params.Quote(format) + " is none of " + strings.Join(InfoFormats, ", ")}
	}
	return format, nil
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
