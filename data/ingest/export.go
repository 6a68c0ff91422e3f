package ingest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"limnomap/data"
)

// A Format is one that lakes are exported in.
type Format uint8

const (
	// FormatGeoJSON holds all there is. A lake with an outline is a MultiPolygon, beside which a property of our own
	// holds the outline's very bytes: the shore for the coarser zooms is not to be had from the finest alone. An
	// importer takes them where they are those of the polygons, so that whoever changes a shore need not know of them.
	FormatGeoJSON Format = iota
	// FormatCSV holds all but the outlines.
	FormatCSV
)

// ExportedLakes is how many lakes an export wrote, and how many outlines it left out.
type ExportedLakes struct{ Lakes, OutlinesLost int }

// ExportLakes writes the lakes of a source as [Lakes] reads them, by id. One after the other is in memory.
func ExportLakes(ctx context.Context, src data.Source, w io.Writer, format Format) (ExportedLakes, error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	write, end := lakesAsGeoJSON(buffered)
	if format == FormatCSV {
		write, end = lakesAsCSV(buffered)
	}
	var done ExportedLakes
	_, err := src.Scan(ctx, func(l data.Lake) error {
		done.Lakes++
		if format == FormatCSV && l.Outline != "" {
			done.OutlinesLost++
		}
		return write(l)
	}, func(data.Observation) error { return errScanned })
	if err != nil && !errors.Is(err, errScanned) {
		return done, fmt.Errorf("export: %w", err)
	}
	if err := errors.Join(end(), buffered.Flush()); err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	return done, nil
}

// ExportObservations writes the observations of a source, gaps and forecasts included, as [Observations] reads them, by
// lake, date and type, and returns how many there are.
func ExportObservations(ctx context.Context, src data.Source, w io.Writer) (int, error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(buffered, "lake_id,date,chl,data_type,cell_density_cells_ml,who_level,measured_at") // an error stays until Flush
	n := 0
	var line []byte
	_, err := src.Scan(ctx, func(data.Lake) error { return nil }, func(o data.Observation) error {
		n++
		line = appendObservation(line[:0], o)
		_, err := buffered.Write(line)
		return err
	})
	if err == nil {
		err = buffered.Flush()
	}
	if err != nil {
		return n, fmt.Errorf("export: %w", err)
	}
	return n, nil
}

// appendObservation appends a line. Nothing of it needs quotes.
func appendObservation(b []byte, o data.Observation) []byte {
	b = append(b, o.LakeID...)
	b = append(b, ',')
	b = o.Date.Time().AppendFormat(b, time.DateOnly)
	b = append(b, ',')
	if o.Chlorophyll.Valid() {
		b, _ = o.Chlorophyll.AppendText(b) // knows no errors
	}
	b = append(b, ',')
	b = append(b, o.Type.String()...)
	b = append(b, ',')
	if o.CellDensity != data.NoCellDensity {
		b = strconv.AppendFloat(b, o.CellDensity, 'f', -1, 64)
	}
	b = append(b, ',')
	if o.Level != data.NoLevel {
		b = strconv.AppendInt(b, int64(o.Level), 10)
	}
	b = append(b, ',')
	if !o.MeasuredAt.IsZero() {
		b = o.MeasuredAt.UTC().AppendFormat(b, time.RFC3339)
	}
	return append(b, '\n')
}

func lakesAsCSV(w io.Writer) (write func(data.Lake) error, end func() error) {
	c := csv.NewWriter(w)
	decimal := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	// An error stays until the end.
	_ = c.Write([]string{"id", "external_id", "name", "lat", "lon", "region", "area_km2"})
	write = func(l data.Lake) error {
		area := ""
		if l.AreaKM2 != 0 {
			area = decimal(l.AreaKM2)
		}
		return c.Write([]string{string(l.ID), l.ExternalID, l.Name, decimal(l.Point.Lat()), decimal(l.Point.Lon()), l.Region, area})
	}
	return write, func() error { c.Flush(); return c.Error() }
}

// lakeProperties are the properties of a lake in GeoJSON. They say its place too, which of a lake with an outline the
// geometry does not.
type lakeProperties struct {
	ID         data.LakeID `json:"id"`
	ExternalID string      `json:"external_id"`
	Name       string      `json:"name"`
	Lat        float64     `json:"lat"`
	Lon        float64     `json:"lon"`
	Region     string      `json:"region"`
	AreaKM2    float64     `json:"area_km2"` // 0 where unknown, since null would ask for that of the polygons
	Outline    string      `json:"limnomap_outline,omitempty"`
}

// lakesAsGeoJSON writes each lake on a line of its own.
func lakesAsGeoJSON(w io.Writer) (write func(data.Lake) error, end func() error) {
	between := `{"type":"FeatureCollection","features":[` + "\n"
	write = func(l data.Lake) error {
		geometry := struct {
			Type        string `json:"type"`
			Coordinates any    `json:"coordinates"`
		}{"Point", l.Point}
		if l.Outline != "" {
			geometry.Type, geometry.Coordinates = "MultiPolygon", polygonsOf(l.Outline)
		}
		feature, err := json.Marshal(struct {
			Type       string         `json:"type"`
			Properties lakeProperties `json:"properties"`
			Geometry   any            `json:"geometry"`
		}{"Feature", lakeProperties{l.ID, l.ExternalID, l.Name, l.Point.Lat(), l.Point.Lon(), l.Region, l.AreaKM2, encodeOutline(l.Outline)}, geometry})
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, between)
		if err == nil {
			_, err = w.Write(feature)
		}
		between = ",\n"
		return err
	}
	return write, func() error {
		if between != ",\n" { // there was none
			_, err := io.WriteString(w, between+"]}\n")
			return err
		}
		_, err := io.WriteString(w, "\n]}\n")
		return err
	}
}

func encodeOutline(o data.Outline) string { return base64.StdEncoding.EncodeToString([]byte(o)) }

// decodeOutline returns what encodeOutline was given, or nothing.
func decodeOutline(s string) data.Outline {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return data.Outline(b)
}
