package gazetteer

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
)

// columns are the columns of a table of places. The first three are required.
var columns = []string{"name", "lat", "lon", "population", "region", "country", "postcode", "other_names"}

const requiredColumns = 3

// maxSameKm is the distance between two rows of a name and a region, in km, up to which they are one place.
const maxSameKm = 25

// Read reads places from CSV in UTF-8, with a header that names the columns in any order; it ignores other columns. A row is a place. Rows of one name and
// region that are near each other are one place: so a place can have several postcodes, each with a position. Other names, and several
// postcodes of one position, are separated by ; or |. An error names the row, counted from 1 for the header, and the column.
func Read(r io.Reader) ([]Place, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	b := builder{byName: make(map[key][]int)}
	for {
		err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = b.add(t)
		}
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", t.row, err)
		}
	}
	if len(b.places) == 0 {
		return nil, errors.New("no places")
	}
	return b.places, nil
}

// A table is a CSV file.
type table struct {
	csv    *csv.Reader
	row    int
	index  []int // of each column in a row, or -1
	fields []string
}

func newTable(r io.Reader) (*table, error) {
	buffered := bufio.NewReader(r)
	if start, err := buffered.Peek(3); err == nil && bytes.Equal(start, []byte("\ufeff")) {
		_, _ = buffered.Discard(3) // it has been read
	}
	t := &table{csv: csv.NewReader(buffered), row: 1}
	t.csv.ReuseRecord = true
	header, err := t.csv.Read()
	if err != nil {
		return nil, fmt.Errorf("header: %w", err)
	}
	for i, name := range columns {
		at := slices.IndexFunc(header, func(field string) bool { return strings.EqualFold(strings.TrimSpace(field), name) })
		if at < 0 && i < requiredColumns {
			return nil, fmt.Errorf("header: no column %s", name)
		}
		t.index = append(t.index, at)
	}
	return t, nil
}

func (t *table) next() (err error) {
	t.row++
	t.fields, err = t.csv.Read()
	return err
}

// get returns the field of a column without space around it, or "" if there is no such column.
func (t *table) get(column string) string {
	at := t.index[slices.Index(columns, column)]
	if at < 0 {
		return ""
	}
	return strings.Clone(strings.TrimSpace(t.fields[at])) // the reader reuses the fields
}

// degrees returns the number in a column.
func (t *table) degrees(column string, most float64) (float64, error) {
	text := t.get(column)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(math.Abs(v) <= most) {
		return 0, fmt.Errorf("column %s: %q is no number from -%v to %v", column, text, most, most)
	}
	return v, nil
}

// list returns the texts in a column.
func (t *table) list(column string) []string {
	return strings.FieldsFunc(t.get(column), func(r rune) bool { return r == ';' || r == '|' })
}

type key struct{ name, region string }

// A builder joins rows to places.
type builder struct {
	places []Place
	byName map[key][]int
	codes  int
}

func (b *builder) add(t *table) error {
	p, err := t.place()
	if err != nil {
		return err
	}
	b.codes += len(p.Codes)
	if b.codes > MaxCodes {
		return fmt.Errorf("more than %d postcodes", MaxCodes)
	}
	k := key{p.Names[0], p.Region}
	for _, i := range b.byName[k] {
		if same := &b.places[i]; kmBetween(same.Point, p.Point) <= maxSameKm {
			same.Population = max(same.Population, p.Population)
			same.addNames(p.Names[1:])
			if len(same.Names) > maxNames {
				return fmt.Errorf("column other_names: more than %d names of one place", maxNames)
			}
			same.addCodes(p.Codes)
			return nil
		}
	}
	if len(b.places) == MaxPlaces {
		return fmt.Errorf("more than %d places", MaxPlaces)
	}
	b.byName[k] = append(b.byName[k], len(b.places))
	b.places = append(b.places, p)
	return nil
}

func (p *Place) addNames(names []string) {
	for _, name := range names {
		if !slices.Contains(p.Names, name) {
			p.Names = append(p.Names, name)
		}
	}
}

func (p *Place) addCodes(codes []Code) {
	for _, code := range codes {
		if !slices.ContainsFunc(p.Codes, func(c Code) bool { return c.Code == code.Code }) {
			p.Codes = append(p.Codes, code)
		}
	}
}

// place returns the place of a row.
func (t *table) place() (p Place, err error) {
	wrong := func(column string, err error) (Place, error) {
		return Place{}, fmt.Errorf("column %s: %w", column, err)
	}
	name := t.get("name")
	if err := checkName(name); err != nil {
		return wrong("name", err)
	}
	lat, err := t.degrees("lat", 90)
	if err != nil {
		return Place{}, err
	}
	lon, err := t.degrees("lon", 180)
	if err != nil {
		return Place{}, err
	}
	p = Place{Names: []string{name}, Region: t.get("region"), Point: orb.Point{lon, lat}}
	column := "region"
	if p.Region == "" {
		column, p.Region = "country", t.get("country")
	}
	if err := checkText(p.Region); err != nil {
		return wrong(column, err)
	}
	if text := t.get("population"); text != "" {
		p.Population, err = strconv.ParseInt(text, 10, 64)
		if err != nil || p.Population < 0 {
			return Place{}, fmt.Errorf("column population: %q is no whole number of people", text)
		}
	}
	for _, other := range t.list("other_names") {
		other = strings.TrimSpace(other)
		if err := checkName(other); err != nil {
			return wrong("other_names", err)
		}
		p.addNames([]string{other})
	}
	if len(p.Names) > maxNames {
		return wrong("other_names", fmt.Errorf("more than %d names", maxNames))
	}
	for _, code := range t.list("postcode") {
		code = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(code))
		if err := checkCode(code); err != nil {
			return wrong("postcode", err)
		}
		p.addCodes([]Code{{code, p.Point}})
	}
	return p, nil
}

// kmBetween returns the distance of two points that are near each other.
func kmBetween(a, b orb.Point) float64 {
	const kmOfDegree = 111.2
	east := math.Remainder(a.Lon()-b.Lon(), 360) * math.Cos(a.Lat()*math.Pi/180)
	return kmOfDegree * math.Hypot(a.Lat()-b.Lat(), east)
}
