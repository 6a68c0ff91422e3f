package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFeatureBytes bounds a feature, and so the memory for it: an outline of [data.MaxOutlinePoints] with 16 digits to a
// number, and each number indented on a line of its own, takes 20 MB.
const maxFeatureBytes = 32 << 20

var errLongFeature = fmt.Errorf("does not end within %d bytes", maxFeatureBytes)

// A collection is a FeatureCollection in GeoJSON (RFC 7946), of which one feature after the other is in memory.
type collection struct {
	json    *json.Decoder
	bound   *rowBound
	read    int             // features
	raw     json.RawMessage // the value that was read last
	typed   bool            // whether the member "type" was there
	ended   bool            // whether the array of features is over
	feature feature
}

// openCollection reads up to the first feature.
func openCollection(r io.Reader, columns []column) (*collection, error) {
	c := &collection{bound: &rowBound{r: r, max: maxFeatureBytes, tooLong: errLongFeature}}
	c.json = json.NewDecoder(c.bound)
	c.feature.columns = columns
	c.feature.notation = notation{charset: inUTF8, separator: ','}
	if _, err := c.token(); err != nil { // the brace by which the file is known
		return nil, err
	}
	found, err := c.members()
	if err == nil && !found {
		err = errors.New("there are no features: want a FeatureCollection")
	}
	return c, err
}

func (c *collection) number() int { return c.read }

func (c *collection) ofFeatures() bool { return true }

func (c *collection) offset() int64 { return c.json.InputOffset() }

func (c *collection) unknown() []string { return c.feature.ignored }

func (c *collection) next() (*row, error) {
	if c.ended {
		return nil, io.EOF
	}
	if !c.json.More() {
		return nil, c.end()
	}
	if err := c.value(); err != nil {
		return nil, fmt.Errorf("feature %d: %w", c.read+1, err)
	}
	c.read++
	return c.feature.parse(c.raw)
}

// end reads what follows the last feature. It returns io.EOF if nothing is wrong with that.
func (c *collection) end() error {
	if _, err := c.token(); err != nil { // the bracket, or what stands in its place
		return fmt.Errorf("after feature %d: %w", c.read, err)
	}
	c.ended = true
	again, err := c.members()
	switch {
	case err != nil:
		return fmt.Errorf("after the features: %w", err)
	case again:
		return errors.New(`there are "features" twice: want one array of them`)
	case !c.typed:
		return errors.New(`the file has no "type": want FeatureCollection`)
	}
	if err := c.feature.checkMapped(); err != nil && c.read > 0 {
		return err
	}
	if _, err := c.json.Token(); err != io.EOF {
		return errors.New("the file goes on after its FeatureCollection: want one, and nothing else")
	}
	return io.EOF
}

// members reads members of the file up to its features, which is found, or to its end.
func (c *collection) members() (found bool, err error) {
	for c.json.More() {
		name, err := c.token()
		if err != nil {
			return false, err
		}
		if name == "features" {
			open, err := c.token()
			if err == nil && open != json.Delim('[') {
				err = errors.New(`"features" is no array: want one of features`)
			}
			return err == nil, err
		}
		if err := c.value(); err != nil {
			return false, fmt.Errorf("%.40q: %w", name, err)
		}
		switch name {
		case "type":
			if c.typed = string(c.raw) == `"FeatureCollection"`; !c.typed {
				return false, fmt.Errorf("its type is %s: want a FeatureCollection", shown(c.raw))
			}
		case "crs":
			if err := checkCRS(c.raw); err != nil {
				return false, err
			}
		}
	}
	_, err = c.token()
	return false, err
}

// value reads the next value into raw.
func (c *collection) value() error {
	c.bound.rowStart = c.json.InputOffset()
	return whole(c.json.Decode(&c.raw))
}

func (c *collection) token() (json.Token, error) {
	c.bound.rowStart = c.json.InputOffset()
	t, err := c.json.Token()
	return t, whole(err)
}

// whole returns err, unless that is the end of a file, which must not come amid a collection: features may be missing.
func whole(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends here, before its FeatureCollection does: is it whole?")
	}
	return err
}

// checkCRS returns an error unless a member "crs", which was in GeoJSON before RFC 7946, names the reference system
// that is the only one since then, or the one that has the same numbers.
func checkCRS(raw json.RawMessage) error {
	var crs struct {
		Properties struct{ Name string }
	}
	if err := json.Unmarshal(raw, &crs); err == nil {
		switch crs.Properties.Name {
		case "urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:OGC::CRS84", "OGC:CRS84",
			"http://www.opengis.net/def/crs/OGC/1.3/CRS84", "urn:ogc:def:crs:EPSG::4326", "EPSG:4326":
			return nil
		}
	}
	return fmt.Errorf("crs %.120q: want longitudes and latitudes in WGS 84 (EPSG:4326), as RFC 7946 demands", raw)
}
