package gazetteer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"limnomap/data/linetext"
)

const (
	// A phone searches all places and their postcodes with each key press.
	maxPlaces = 500_000
	maxCodes  = 500_000

	maxText = 200 // characters of a name or of a region
	maxCode = 12  // characters of a postcode
)

const (
	base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	base36 = "0123456789abcdefghijklmnopqrstuvwxyz"
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

// Check returns an error unless text is a gazetteer with all that the page relies on.
func Check(text []byte) error {
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	if err := checkText(f.Credit); err != nil {
		return fmt.Errorf("credit: %w", err)
	}
	for _, region := range f.Regions {
		if err := checkText(region); err != nil {
			return fmt.Errorf("region %q: %w", region, err)
		}
	}
	names, codes := strings.Split(f.Names, "\n"), strings.Split(f.Codes, "\n")
	columns := make(map[string][]int)
	for _, column := range []struct{ name, text string }{{"region", f.Region}, {"lat", f.Lat}, {"lon", f.Lon}, {"codeLat", f.CodeLat}, {"codeLon", f.CodeLon}} {
		var err error
		if columns[column.name], err = readNumbers(column.text); err != nil {
			return fmt.Errorf("%s: %w", column.name, err)
		}
	}
	n := len(names)
	region, lat, lon := sums(columns["region"]), sums(columns["lat"]), sums(columns["lon"])
	if n > maxPlaces || len(region) != n || len(lat) != n || len(lon) != n || len(f.Size) != n || len(codes) != n {
		return fmt.Errorf("%d names, %d regions, %d latitudes, %d longitudes, %d sizes and postcodes of %d places: want as many of each, and at most %d",
			n, len(region), len(lat), len(lon), len(f.Size), len(codes), maxPlaces)
	}
	c := codeChecker{lat: columns["codeLat"], lon: columns["codeLon"]}
	for i := range names {
		err := checkPosition(lat[i], lon[i])
		for name := range strings.SplitSeq(names[i], "|") {
			if name == "" {
				err = cmp.Or(err, errors.New("empty"))
			}
			err = cmp.Or(err, checkText(name))
		}
		if region[i] < 0 || region[i] >= len(f.Regions) || !strings.Contains(base36, f.Size[i:i+1]) {
			err = errors.New("no such region or size")
		}
		if err = cmp.Or(err, c.check(codes[i], lat[i], lon[i])); err != nil {
			return fmt.Errorf("place %d: %w", i+1, err)
		}
	}
	if len(c.lat) > 0 || len(c.lon) > 0 {
		return errors.New("there are more positions than postcodes")
	}
	return nil
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

// A codeChecker checks postcodes.
type codeChecker struct {
	before   string
	count    int
	lat, lon []int // of the postcodes that follow
}

// check checks the postcodes in a line, of a place at that position.
func (c *codeChecker) check(line string, lat, lon int) error {
	for _, text := range strings.Fields(line) {
		whole, ok := strings.CutPrefix(text, "=")
		if !ok {
			if len(text) > len(c.before) {
				return fmt.Errorf("postcode %q is longer than the one before", text)
			}
			whole = c.before[:len(c.before)-len(text)] + text
		}
		if whole == "" || len(whole) > maxCode || strings.Trim(whole, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return fmt.Errorf("postcode %q has not 1 to %d letters and digits", whole, maxCode)
		}
		if c.count++; len(c.lat) == 0 || len(c.lon) == 0 || c.count > maxCodes {
			return fmt.Errorf("postcode %s has no position, or there are more than %d", whole, maxCodes)
		}
		if err := checkPosition(lat+c.lat[0], lon+c.lon[0]); err != nil {
			return fmt.Errorf("postcode %s: %w", whole, err)
		}
		c.before, c.lat, c.lon = whole, c.lat[1:], c.lon[1:]
	}
	return nil
}

// checkText returns an error if s cannot be a name or a region: the page shows it, and | and line ends separate names.
func checkText(s string) error {
	switch {
	case !utf8.ValidString(s):
		return errors.New("not UTF-8")
	case utf8.RuneCountInString(s) > maxText:
		return fmt.Errorf("more than %d characters", maxText)
	case strings.ContainsFunc(s, func(r rune) bool { return r == '|' || unicode.IsControl(r) }):
		return errors.New("a | or a control character")
	case s == "":
		return nil
	}
	return linetext.Check(s)
}

// checkPosition returns an error if a position in hundredths of a degree is not on the globe.
func checkPosition(lat, lon int) error {
	if lat < -9000 || lat > 9000 || lon < -18000 || lon > 18000 {
		return fmt.Errorf("%v, %v is no latitude and longitude", float64(lat)/100, float64(lon)/100)
	}
	return nil
}
