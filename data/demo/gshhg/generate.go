//go:build ignore

// Command generate writes gshhg/lakes.geojson: the shores of the lakes in lakes.csv that GSHHG has. COPYRIGHT describes the source.
// It runs in data/demo, on Debian 12 with the packages gmt (6.4.0) and gmt-gshhg-full (2.3.7-6): go generate ./data/demo
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
	"github.com/paulmach/orb/planar"
)

const (
	source       = "/usr/share/gmt-gshhg/binned_GSHHS_f.nc"
	sourceSHA256 = "3b0c146b7ac3af37daebc44bc66cce5bc2703ca7f42e84e680f3efd5dcc08dc3"

	lakesCSV = "lakes.csv"
	output   = "gshhg/lakes.geojson"

	// decimals of a degree: 11 m, a thirtieth of the median distance between two points of the source.
	decimals = 4
)

// A shore is of a lake if the lake's point is in it or near it, no other point of the list is, and the areas are similar. The first
// allows for the errors of both, and the others exclude shores of several waters, such as the lakes of the Havel.
const (
	near            = 300.0 // m
	largestAreaRate = 1.5
)

// region is Germany with a margin: west, east, south, north. Shores that its edges cut are left out.
var region = orb.Bound{Min: orb.Point{5, 46}, Max: orb.Point{16, 56}}

type lake struct {
	id    string
	point orb.Point
	area  float64 // km²
}

// A feature is a feature of GeoJSON.
type feature struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	Geometry geometry `json:"geometry"`
}

type geometry struct {
	Type        string      `json:"type"`
	Coordinates orb.Polygon `json:"coordinates"`
}

func main() {
	log.SetFlags(0)
	if err := generate(); err != nil {
		log.Fatal("generate: ", err)
	}
}

func generate() error {
	lakes, err := readLakes()
	if err != nil {
		return err
	}
	shores, err := readShores()
	if err != nil {
		return err
	}
	var features []feature
	for _, s := range shores {
		if l, found := lakeOf(s, lakes); found {
			features = append(features, feature{"Feature", l.id, geometry{"Polygon", rounded(s)}})
		}
	}
	slices.SortFunc(features, func(a, b feature) int { return strings.Compare(a.ID, b.ID) })
	log.Printf("%d of %d lakes have a shore", len(features), len(lakes))
	return write(features)
}

func readLakes() ([]lake, error) {
	f, err := os.Open(lakesCSV)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lakesCSV, err)
	}
	var lakes []lake
	for _, row := range rows[1:] {
		lat, err1 := strconv.ParseFloat(row[2], 64)
		lon, err2 := strconv.ParseFloat(row[3], 64)
		area, err3 := strconv.ParseFloat(row[5], 64)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", lakesCSV, row[0], err)
		}
		lakes = append(lakes, lake{row[0], orb.Point{lon, lat}, area})
	}
	return lakes, nil
}

// readShores returns the shores of all lakes of the region, with their islands as holes.
func readShores() ([]orb.Polygon, error) {
	content, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(content)); sum != sourceSHA256 {
		return nil, fmt.Errorf("%s has the SHA-256 %s, want %s", source, sum, sourceSHA256)
	}
	bounds := fmt.Sprintf("-R%g/%g/%g/%g", region.Left(), region.Right(), region.Bottom(), region.Top())
	// -Df: full resolution; -A0/2/3: levels 2 (lakes) and 3 (their islands) of any area; -M: as text.
	cmd := exec.Command("gmt", "coast", bounds, "-Df", "-A0/2/3", "-W2", "-W3", "-M")
	cmd.Stderr = os.Stderr
	cmd.Dir, err = os.MkdirTemp("", "gshhg") // for its gmt.history
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(cmd.Dir)
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("gmt coast: %w", err)
	}
	segments, err := parseSegments(text)
	if err != nil {
		return nil, err
	}
	outer, err := joined(segments[2])
	if err != nil {
		return nil, err
	}
	islands, err := joined(segments[3])
	if err != nil {
		return nil, err
	}
	shores := make([]orb.Polygon, len(outer))
	for i, ring := range outer {
		shores[i] = orb.Polygon{ring}
		for _, island := range islands {
			if planar.RingContains(ring, island[0]) {
				shores[i] = append(shores[i], island)
			}
		}
	}
	return shores, nil
}

// parseSegments returns the lines in the output of gmt coast by level. A header such as "> Shore Bin # 12248, Level 2" is before
// each line; GSHHG is cut into bins of one degree.
func parseSegments(text []byte) (map[int][]orb.LineString, error) {
	segments := map[int][]orb.LineString{}
	level := 0
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "#") {
			continue
		}
		if header, found := strings.CutPrefix(line, "> Shore Bin # "); found {
			var bin int
			if _, err := fmt.Sscanf(header, "%d, Level %d", &bin, &level); err != nil {
				return nil, fmt.Errorf("gmt coast printed %q: %w", line, err)
			}
			segments[level] = append(segments[level], nil)
			continue
		}
		var p orb.Point
		if _, err := fmt.Sscan(line, &p[0], &p[1]); err != nil || level == 0 {
			return nil, fmt.Errorf("gmt coast printed %q, want a longitude and a latitude after a header", line)
		}
		last := &segments[level][len(segments[level])-1]
		*last = append(*last, p)
	}
	for level := range segments {
		segments[level] = slices.DeleteFunc(segments[level], func(s orb.LineString) bool { return len(s) < 2 })
	}
	return segments, lines.Err()
}

// joined returns the rings that consist of segments. It leaves out lines that end at the edges of the region.
func joined(segments []orb.LineString) ([]orb.Ring, error) {
	var rings []orb.Ring
	for len(segments) > 0 {
		line := segments[0]
		segments = segments[1:]
		for !same(line[0], line[len(line)-1]) {
			end := line[len(line)-1]
			i := slices.IndexFunc(segments, func(s orb.LineString) bool { return same(s[0], end) || same(s[len(s)-1], end) })
			if i < 0 {
				break
			}
			next := segments[i]
			segments = slices.Delete(segments, i, i+1)
			if !same(next[0], end) {
				next.Reverse()
			}
			line = append(line, next[1:]...)
		}
		switch first, last := line[0], line[len(line)-1]; {
		case same(first, last):
			line[len(line)-1] = first
			rings = append(rings, orb.Ring(line))
		case !onEdge(first) && !onEdge(last):
			return nil, fmt.Errorf("a line from %v to %v is not closed", first, last)
		}
	}
	return rings, nil
}

// same reports whether two ends of segments are the same point: bins are cut at exact degrees, and coordinates are stored in
// 1/65535 degree.
func same(a, b orb.Point) bool {
	const unit = 1.0 / 65535
	return math.Abs(a[0]-b[0]) < 2*unit && math.Abs(a[1]-b[1]) < 2*unit
}

func onEdge(p orb.Point) bool {
	return p[0] == region.Left() || p[0] == region.Right() || p[1] == region.Bottom() || p[1] == region.Top()
}

// lakeOf returns the lake that has the shore s, if there is exactly one.
func lakeOf(s orb.Polygon, lakes []lake) (lake, bool) {
	var found []lake
	for _, l := range lakes {
		if distance(l.point, s[0]) <= near {
			found = append(found, l)
		}
	}
	if len(found) != 1 {
		return lake{}, false
	}
	rate := geo.Area(s) / 1e6 / found[0].area
	return found[0], rate <= largestAreaRate && 1/rate <= largestAreaRate
}

// distance returns the distance of p from the inside of ring in metres.
func distance(p orb.Point, ring orb.Ring) float64 {
	if planar.RingContains(ring, p) {
		return 0
	}
	east, north := geo.Distance(p, orb.Point{p[0] + 1, p[1]}), geo.Distance(p, orb.Point{p[0], p[1] + 1})
	local := make(orb.LineString, len(ring)) // metres from p
	for i, q := range ring {
		local[i] = orb.Point{(q[0] - p[0]) * east, (q[1] - p[1]) * north}
	}
	return planar.DistanceFrom(local, orb.Point{})
}

// rounded returns s without the decimals that mean nothing, and without points that then repeat the one before. Its outer ring is
// counterclockwise and its holes are clockwise (RFC 7946, section 3.1.6).
func rounded(s orb.Polygon) orb.Polygon {
	scale := math.Pow10(decimals)
	r := make(orb.Polygon, len(s))
	for i, ring := range s {
		for _, p := range ring {
			q := orb.Point{math.Round(p[0]*scale) / scale, math.Round(p[1]*scale) / scale}
			if n := len(r[i]); n == 0 || r[i][n-1] != q {
				r[i] = append(r[i], q)
			}
		}
		if (r[i].Orientation() == orb.CCW) != (i == 0) {
			r[i].Reverse()
		}
	}
	return r
}

// write writes a FeatureCollection with a line for each feature.
func write(features []feature) error {
	var b bytes.Buffer
	b.WriteString(`{"type":"FeatureCollection","features":[`)
	for i, f := range features {
		line, err := json.Marshal(f)
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return os.WriteFile(output, b.Bytes(), 0o644)
}
