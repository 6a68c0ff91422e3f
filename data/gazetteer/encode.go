package gazetteer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/paulmach/orb"
)

// file is a gazetteer as JSON. See the package documentation.
type file struct {
	Credit  string   `json:"credit"`
	Regions []string `json:"regions"`
	Names   string   `json:"names"`
	Region  string   `json:"region"`
	Lat     string   `json:"lat"`
	Lon     string   `json:"lon"`
	Size    string   `json:"size"`
	Codes   string   `json:"codes"`
	CodeLat string   `json:"codeLat"`
	CodeLon string   `json:"codeLon"`
}

// Encode returns the places as a gazetteer that names its source. Neighbours in the file are near each other, which makes it small: places are in the order of
// their regions, their first postcodes and their positions.
func Encode(places []Place, credit string) ([]byte, error) {
	sorted := slices.Clone(places)
	for i := range sorted {
		sorted[i].Codes = slices.SortedFunc(slices.Values(sorted[i].Codes), func(a, b Code) int { return cmp.Compare(a.Code, b.Code) })
	}
	slices.SortStableFunc(sorted, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(firstCode(a), firstCode(b)), cmp.Compare(a.Point.Lat(), b.Point.Lat()), cmp.Compare(a.Point.Lon(), b.Point.Lon()))
	})
	f := file{Credit: credit, Regions: []string{}}
	var names, codes []string
	var region, lat, lon, codeLat, codeLon numbers
	var size []byte
	before := ""
	for _, p := range sorted {
		if len(f.Regions) == 0 || f.Regions[len(f.Regions)-1] != p.Region {
			f.Regions = append(f.Regions, p.Region)
		}
		names = append(names, strings.Join(p.Names, "|"))
		at := hundredths(p.Point)
		region.addDelta(len(f.Regions) - 1)
		lat.addDelta(at[1])
		lon.addDelta(at[0])
		size = append(size, base36[sizeOf(p.Population)])
		var tails []string
		for _, c := range p.Codes {
			tails = append(tails, tail(before, c.Code))
			before = c.Code
			here := hundredths(c.Point)
			codeLat.add(here[1] - at[1])
			codeLon.add(here[0] - at[0])
		}
		codes = append(codes, strings.Join(tails, " "))
	}
	f.Names, f.Size, f.Codes = strings.Join(names, "\n"), string(size), strings.Join(codes, "\n")
	f.Region, f.Lat, f.Lon, f.CodeLat, f.CodeLon = string(region.text), string(lat.text), string(lon.text), string(codeLat.text), string(codeLon.text)
	text, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	if _, _, err := Decode(text); err != nil { // what the page cannot read must not be written
		return nil, err
	}
	return text, nil
}

func firstCode(p Place) string {
	if len(p.Codes) == 0 {
		return ""
	}
	return p.Codes[0].Code
}

// hundredths returns longitude and latitude in hundredths of a degree.
func hundredths(p orb.Point) [2]int {
	return [2]int{int(math.Round(p.Lon() * 100)), int(math.Round(p.Lat() * 100))}
}

// sizeOf returns the rounded logarithm to base 2 of a population, or 0 if it is unknown.
func sizeOf(population int64) int {
	if population <= 0 {
		return 0
	}
	return min(int(math.Round(math.Log2(float64(population)))), len(base36)-1)
}

// tail returns what is written of a postcode after another one.
func tail(before, code string) string {
	if len(before) != len(code) || before == code {
		return "=" + code
	}
	same := 0
	for before[same] == code[same] {
		same++
	}
	return code[same:]
}

const (
	base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	base36 = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// numbers are written as source maps have them.
type numbers struct {
	text []byte
	last int
}

func (n *numbers) addDelta(v int) {
	n.add(v - n.last)
	n.last = v
}

func (n *numbers) add(v int) {
	rest := uint(v) << 1
	if v < 0 {
		rest = uint(-v)<<1 | 1
	}
	for rest >= 32 {
		n.text = append(n.text, base64[rest%32+32])
		rest /= 32
	}
	n.text = append(n.text, base64[rest])
}

// readNumbers returns the numbers in a text.
func readNumbers(text string) (list []int, err error) {
	var v uint64
	shift := 0
	for i := range len(text) {
		digit := strings.IndexByte(base64, text[i])
		if digit < 0 || shift > bits.UintSize/2 {
			return nil, fmt.Errorf("%q is no digit of a number, or the number is too long", text[i])
		}
		v |= uint64(digit%32) << shift
		shift += 5
		if digit >= 32 {
			continue
		}
		number := int(v >> 1)
		if v&1 == 1 {
			number = -number
		}
		list = append(list, number)
		v, shift = 0, 0
	}
	if shift > 0 {
		return nil, errors.New("the last number has no end")
	}
	return list, nil
}

// sums replaces differences by values.
func sums(list []int) []int {
	for i := 1; i < len(list); i++ {
		list[i] += list[i-1]
	}
	return list
}

// Decode reads a gazetteer, and returns its places and its source. It checks all that the page relies on.
func Decode(text []byte) (places []Place, credit string, err error) {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, "", err
	}
	if err := checkText(f.Credit); err != nil {
		return nil, "", fmt.Errorf("credit: %w", err)
	}
	for _, region := range f.Regions {
		if err := checkText(region); err != nil {
			return nil, "", fmt.Errorf("region %q: %w", region, err)
		}
	}
	names, codes := strings.Split(f.Names, "\n"), strings.Split(f.Codes, "\n")
	columns := make(map[string][]int)
	for _, column := range []struct{ name, text string }{{"region", f.Region}, {"lat", f.Lat}, {"lon", f.Lon}, {"codeLat", f.CodeLat}, {"codeLon", f.CodeLon}} {
		if columns[column.name], err = readNumbers(column.text); err != nil {
			return nil, "", fmt.Errorf("%s: %w", column.name, err)
		}
	}
	n := len(names)
	region, lat, lon := sums(columns["region"]), sums(columns["lat"]), sums(columns["lon"])
	if n > MaxPlaces || len(region) != n || len(lat) != n || len(lon) != n || len(f.Size) != n || len(codes) != n {
		return nil, "", fmt.Errorf("%d names, %d regions, %d latitudes, %d longitudes, %d sizes and postcodes of %d places: want as many of each, and at most %d",
			n, len(region), len(lat), len(lon), len(f.Size), len(codes), MaxPlaces)
	}
	d := codeReader{lat: columns["codeLat"], lon: columns["codeLon"]}
	for i := range names {
		p := Place{Names: strings.Split(names[i], "|"), Point: orb.Point{float64(lon[i]) / 100, float64(lat[i]) / 100}}
		err := checkPoint(p.Point)
		for _, name := range p.Names {
			err = cmp.Or(err, checkName(name))
		}
		size := strings.IndexByte(base36, f.Size[i])
		if region[i] < 0 || region[i] >= len(f.Regions) || size < 0 {
			err = errors.New("no such region or size")
		}
		if err == nil {
			p.Codes, err = d.read(codes[i], lat[i], lon[i])
		}
		if err != nil {
			return nil, "", fmt.Errorf("place %d: %w", i+1, err)
		}
		p.Region = f.Regions[region[i]]
		if size > 0 {
			p.Population = 1 << size
		}
		places = append(places, p)
	}
	if len(d.lat) > 0 || len(d.lon) > 0 {
		return nil, "", errors.New("there are more positions than postcodes")
	}
	return places, f.Credit, nil
}

// A codeReader reads postcodes.
type codeReader struct {
	before   string
	count    int
	lat, lon []int // of the postcodes that follow
}

// read returns the postcodes in a line, of a place at that position.
func (d *codeReader) read(line string, lat, lon int) (codes []Code, err error) {
	for _, text := range strings.Fields(line) {
		whole, ok := strings.CutPrefix(text, "=")
		if !ok {
			if len(text) > len(d.before) {
				return nil, fmt.Errorf("postcode %q is longer than the one before", text)
			}
			whole = d.before[:len(d.before)-len(text)] + text
		}
		if err := checkCode(whole); err != nil {
			return nil, fmt.Errorf("postcode: %w", err)
		}
		if d.count++; len(d.lat) == 0 || len(d.lon) == 0 || d.count > MaxCodes {
			return nil, fmt.Errorf("postcode %s has no position, or there are more than %d", whole, MaxCodes)
		}
		point := orb.Point{float64(lon+d.lon[0]) / 100, float64(lat+d.lat[0]) / 100}
		if err := checkPoint(point); err != nil {
			return nil, fmt.Errorf("postcode %s: %w", whole, err)
		}
		codes = append(codes, Code{whole, point})
		d.before, d.lat, d.lon = whole, d.lat[1:], d.lon[1:]
	}
	return codes, nil
}
