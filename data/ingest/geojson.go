package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxFeatureBytes bounds the memory for a feature: an outline of [data.MaxOutlinePoints] takes 20 MB with 16 digits for each
// number and each number indented on its own line.
const maxFeatureBytes = 32 << 20

var errLongFeature = fmt.Errorf("does not end within %d bytes", maxFeatureBytes)

// A collection is a FeatureCollection in GeoJSON (RFC 7946). One feature at a time is in memory.
type collection struct {
	json    *json.Decoder
	bound   *rowBound
	read    int             // number of features
	raw     json.RawMessage // the last value
	typed   bool            // whether there was a member "type"
	ended   bool            // whether the array of features has ended
	feature feature
}

// openCollection reads up to the first feature.
func openCollection(r io.Reader, columns []column) (*collection, error) {
	c := &collection{bound: &rowBound{r: r, max: maxFeatureBytes, tooLong: errLongFeature}}
	c.json = json.NewDecoder(c.bound)
	c.feature.columns = columns
	c.feature.notation = notation{charset: inUTF8, separator: ','}
	if _, err := c.token(); err != nil { // the opening brace
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

// end reads what follows the last feature. It returns io.EOF if that is valid.
func (c *collection) end() error {
	if _, err := c.token(); err != nil { // the closing bracket
		return fmt.Errorf("after feature %d: %w", c.read, err)
	}
	c.ended = true
	again, err := c.members()
	switch {
	case err != nil:
		return fmt.Errorf("after the features: %w", err)
	case again:
		return errors.New(`there are two members "features": want one array`)
	case !c.typed:
		return errors.New(`the file has no "type": want FeatureCollection`)
	}
	if err := c.feature.checkMapped(); err != nil && c.read > 0 {
		return err
	}
	if _, err := c.json.Token(); err != io.EOF {
		return errors.New("there is more after the FeatureCollection: want one FeatureCollection only")
	}
	return io.EOF
}

// members reads members up to the features, which sets found, or to the end of the file.
func (c *collection) members() (found bool, err error) {
	for c.json.More() {
		name, err := c.token()
		if err != nil {
			return false, err
		}
		if name == "features" {
			open, err := c.token()
			if err == nil && open != json.Delim('[') {
				err = errors.New(`"features" is not an array: want an array of features`)
			}
			return err == nil, err
		}
		if err := c.value(); err != nil {
			return false, fmt.Errorf("%.40q: %w", name, err)
		}
		switch name {
		case "type":
			if c.typed = string(c.raw) == `"FeatureCollection"`; !c.typed {
				return false, fmt.Errorf("its type is %s: want a FeatureCollection", quoteJSON(c.raw))
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

// whole replaces the error of an early end of the file, after which features may be missing.
func whole(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the file ends before the end of its FeatureCollection: is it complete?")
	}
	return err
}

// checkCRS returns an error unless the member "crs", of GeoJSON before RFC 7946, names the reference system of RFC 7946 or
// one with the same coordinates.
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
	return fmt.Errorf("crs %.120q: want longitudes and latitudes in WGS 84 (EPSG:4326), as RFC 7946 requires", raw)
}
