package ingest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A collection is a FeatureCollection in GeoJSON (RFC 7946). One feature at a time is in memory.
type collection struct {
	json    *jsonReader
	read    int  // number of features
	typed   bool // whether there was a member "type"
	ended   bool // whether the array of features has ended
	feature feature
}

// openCollection reads up to the first feature.
func openCollection(r io.Reader, columns []column) (*collection, error) {
	c := &collection{json: newJSONReader(r, maxFeatureBytes, errLongFeature)}
	c.feature.columns = columns
	c.feature.notation = notation{charset: inUTF8, separator: ','}
	if _, _, err := c.json.next(); err != nil { // the opening brace
		return nil, err
	}
	found, err := c.header()
	if err == nil && !found {
		err = errors.New("there are no features: want a FeatureCollection")
	}
	return c, err
}

func (c *collection) number() int { return c.read }

func (c *collection) unit() unit { return ofFeatures }

func (c *collection) offset() int64 { return c.json.InputOffset() }

func (c *collection) unknown() []string { return c.feature.ignored }

func (c *collection) next() (*row, error) {
	if c.ended {
		return nil, io.EOF
	}
	c.json.begin()
	kind := c.json.PeekKind()
	if kind == ']' {
		return nil, c.end()
	}
	c.read++
	if err := c.feature.read(c.json); err != nil {
		c.read--
		if kind == 0 && errors.Is(err, errEarlyEnd) {
			return nil, fmt.Errorf("after feature %d: %w", c.read, err)
		}
		return nil, fmt.Errorf("feature %d: %w", c.read+1, err)
	}
	return c.feature.parse()
}

// end reads what follows the last feature. It returns io.EOF if that is valid.
func (c *collection) end() error {
	if _, _, err := c.json.next(); err != nil { // the closing bracket
		return fmt.Errorf("after feature %d: %w", c.read, err)
	}
	c.ended = true
	again, err := c.header()
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
	if _, err := c.json.ReadToken(); err != io.EOF {
		return errors.New("there is more after the FeatureCollection: want one FeatureCollection only")
	}
	return io.EOF
}

// errFeatures ends the members before the features.
var errFeatures = errors.New("these are the features")

// header reads members up to the features, which sets found, or to the end of the file.
func (c *collection) header() (found bool, err error) {
	err = c.json.object(maxMembers, "members", func(name []byte) error {
		c.json.begin()
		text := string(name[:min(len(name), maxQuoted)])
		if text == "features" {
			kind, _, err := c.json.next()
			if err == nil && kind != '[' {
				err = errors.New(`"features" is not an array: want an array of features`)
			}
			return cmp.Or(err, errFeatures)
		}
		raw, err := c.json.value(nil, maxKeptBytes)
		if err != nil {
			return fmt.Errorf("%.40q: %w", text, err)
		}
		switch text {
		case "type":
			if c.typed = string(raw) == `"FeatureCollection"`; !c.typed {
				return fmt.Errorf("its type is %s: want a FeatureCollection", quoteJSON(raw))
			}
		case "crs":
			return checkCRS(raw)
		}
		return nil
	})
	if err == errFeatures {
		return true, nil
	}
	return false, err
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
