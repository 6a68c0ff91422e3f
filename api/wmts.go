package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"limnomap/api/answer"
)

// wmts answers what is asked of the WMTS by key and value (WMTS 1.0.0, section 8). Without a request it gives the
// capabilities: that is what whoever pastes the bare address wants.
func (s *Server) wmts(w http.ResponseWriter, r *http.Request) error {
	p := &params{query: r.URL.RawQuery, anyCase: true}
	err := s.answerWMTS(w, r, p)
	var exception *owsException
	if errors.As(err, &exception) {
		return writeExceptions(w, r, []owsException{*exception})
	}
	if list := exceptionsOf(p); len(list) > 0 {
		return writeExceptions(w, r, list)
	}
	return err
}

func (s *Server) answerWMTS(w http.ResponseWriter, r *http.Request, p *params) error {
	request, asked := p.text("request")
	describe := !asked || strings.EqualFold(request, "GetCapabilities")
	service, ok := p.text("service")
	switch {
	case describe && strings.EqualFold(service, "WMS"): // QGIS asks a bare address so, and reads what WMTS answers
	case ok && !strings.EqualFold(service, "WMTS"):
		p.refuse("service", "%s is not WMTS", echo(service))
	case !ok && asked && len(p.errs) == 0:
		return &owsException{owsMissing, "service", "not given; it is required, and is WMTS"}
	}
	if err := p.err(); err != nil {
		return err
	}
	switch {
	case describe:
		if err := p.acceptVersions(); err != nil {
			return err
		}
		return s.capabilities(w, r)
	case strings.EqualFold(request, "GetTile"):
		return s.wmtsTile(w, r, p)
	}
	return &owsException{owsNotSupported, "request", echo(request) + " is none of GetCapabilities, GetTile"}
}

// acceptVersions agrees on a version with the client (OWS 1.1.0, section 7.3.2).
func (p *params) acceptVersions() error {
	versions, ok := p.text("acceptversions")
	if ok && versions != "" && !slices.Contains(strings.Split(versions, ","), wmtsVersion) {
		return &owsException{owsVersion, "acceptversions", echo(versions) + " has not " + wmtsVersion + ", the only version there is"}
	}
	return p.err()
}

// wmtsTile answers with one tile (WMTS 1.0.0, table 29).
func (s *Server) wmtsTile(w http.ResponseWriter, r *http.Request, p *params) error {
	for _, only := range []struct{ name, value string }{
		{"version", wmtsVersion}, {"layer", layerName}, {"format", answer.TypePNG}, {"tilematrixset", wmtsMatrices},
	} {
		if got, ok := p.required(only.name); ok && got != only.value {
			p.refuse(only.name, "%s is not %s", echo(got), only.value)
		}
	}
	look := look{style: s.styleIDs[0], colormap: s.colormapIDs[0]}
	if style, ok := p.required("style"); ok && style != "" { // QGIS leaves out what it takes for the default
		look.style = oneOf(p, "style", s.styleIDs)
	}
	zoom, row, column := p.index("tilematrix"), p.index("tilerow"), p.index("tilecol")
	if zoom > s.opts.MaxZoom {
		p.refuse("tilematrix", "%d is not from 0 to %d", zoom, s.opts.MaxZoom)
	}
	if err := p.err(); err != nil {
		return err
	}
	last := matrixWidth(zoom) - 1
	if row > last {
		return &owsException{owsOutOfRange, "tilerow", fmt.Sprintf("%d is not from 0 to %d", row, last)}
	}
	if column > last {
		return &owsException{owsOutOfRange, "tilecol", fmt.Sprintf("%d is not from 0 to %d", column, last)}
	}
	asked, err := s.tileAt(r, strconv.Itoa(zoom), strconv.Itoa(column), strconv.Itoa(row))
	if err != nil {
		return err
	}
	asked.params, asked.version = params{}, "" // these addresses have neither
	if asked.week, asked.dated = p.wmtsWeek(asked.published.snap); p.err() != nil {
		return p.err()
	}
	return s.sendTile(w, r, &asked, look)
}

// index returns the value of the named parameter, which must be given: a number of a matrix, a row or a column, in plain
// digits.
func (p *params) index(name string) int {
	s, ok := p.required(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || len(s) > 1 && s[0] == '0' {
		p.refuse(name, "%s is not a number from 0 up, in digits", echo(s))
		return 0
	}
	return int(n)
}
