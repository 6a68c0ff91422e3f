package ingest

import (
	"bufio"
	"context"
	"encoding"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
	"limnomap/data/outline"
	"limnomap/data/snapshot"
)

// A Format is a file format for the export of lakes.
type Format uint8

const (
	// FormatGeoJSON holds everything. A lake with an outline is a MultiPolygon and has a property with the bytes of the
	// outline, since the shore for coarser zooms cannot be computed from the finest one. An importer uses the bytes if they
	// belong to the polygons, so that an edit of the polygons is not ignored.
	FormatGeoJSON Format = iota
	// FormatCSV holds everything except the outlines.
	FormatCSV
)

// ExportedLakes counts the lakes that an export wrote, and the outlines that it left out.
type ExportedLakes struct{ Lakes, OutlinesLost int }

// ExportLakes writes the lakes of a source by id, in the form that [Lakes] reads. It holds one lake in memory at a time.
func ExportLakes(ctx context.Context, src snapshot.Source, w io.Writer, format Format) (ExportedLakes, error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	write, end := lakesAsGeoJSON(buffered)
	if format == FormatCSV {
		write, end = lakesAsCSV(buffered)
	}
	var done ExportedLakes
	err := eachLake(ctx, src.Scan, func(l data.Lake) error {
		done.Lakes++
		if format == FormatCSV && l.Outline != "" {
			done.OutlinesLost++
		}
		return write(l)
	})
	if err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	if err := errors.Join(end(), buffered.Flush()); err != nil {
		return done, fmt.Errorf("export: %w", err)
	}
	return done, nil
}

// ExportObservations writes the observations of a source by lake, date and type, including gaps and forecasts, in the form
// that [Observations] reads. It returns how many there are.
func ExportObservations(ctx context.Context, src snapshot.Source, w io.Writer) (int, error) {
	buffered := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintln(buffered, "lake_id,date,chl,data_type,cell_density_cells_ml,who_level,measured_at,"+
		"chl_lower,chl_upper,below_limit,n_valid,n_total,quality,flags,source,method,version,secchi_m,water_temperature_c,period_start,composite,turbidity_ntu,scum_percent") // Flush returns its error
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

// appendObservation appends a line. Only the source, the method and the version may need quotes.
func appendObservation(b []byte, o data.Observation) []byte {
	b = append(b, o.LakeID...)
	b = append(b, ',')
	b = o.Date.Time().AppendFormat(b, time.DateOnly)
	b = append(b, ',')
	if o.Chlorophyll.Valid() {
		b, _ = o.Chlorophyll.AppendText(b) // its error is always nil
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
	if o.Source == "" && o.Quality == data.QualityUnknown && o.Details == (data.Details{}) { // as most observations
		return append(b, ",,,,,,,,,,,,,,,,\n"...)
	}
	return appendDetails(b, &o)
}

// appendDetails appends the fields from chl_lower on, and ends the line.
func appendDetails(b []byte, o *data.Observation) []byte {
	d := &o.Details
	b = appendOptional(append(b, ','), d.Lower)
	b = appendOptional(append(b, ','), d.Upper)
	b = append(b, ',')
	if d.BelowLimit {
		b = append(b, "true"...)
	}
	for _, n := range []data.Optional[int32]{d.ValidPixels, d.TotalPixels} {
		b = append(b, ',')
		if n.Known {
			b = strconv.AppendInt(b, int64(n.Value), 10)
		}
	}
	b = append(append(b, ','), o.Quality.String()...)
	b = append(append(b, ','), strings.Join(d.Flags.Names(), " ")...)
	b = appendQuoted(append(b, ','), o.Source)
	b = appendQuoted(append(b, ','), d.Method)
	b = appendQuoted(append(b, ','), d.Version)
	b = appendOptional(append(b, ','), d.Secchi)
	b = appendOptional(append(b, ','), d.WaterTemperature)
	b = append(b, ',')
	if d.PeriodStart.Known {
		b = d.PeriodStart.Value.Time().AppendFormat(b, time.DateOnly)
	}
	b = append(append(b, ','), d.Composite.String()...)
	b = appendOptional(append(b, ','), d.Turbidity)
	b = appendOptional(append(b, ','), d.ScumPercent)
	return append(b, '\n')
}

// appendOptional appends a number, or nothing if it is absent.
func appendOptional[T interface {
	comparable
	encoding.TextAppender
}](b []byte, n data.Optional[T]) []byte {
	if n.Known {
		b, _ = n.Value.AppendText(b) // its error is always nil
	}
	return b
}

// appendQuoted appends a text in quotes, so that an import reads it as it is. An empty text has none.
func appendQuoted(b []byte, s string) []byte {
	if s == "" {
		return b
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}

func lakesAsCSV(w io.Writer) (write func(data.Lake) error, end func() error) {
	c := csv.NewWriter(w)
	decimal := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	// end returns its error.
	_ = c.Write([]string{"id", "external_id", "name", "lat", "lon", "region", "area_km2", "water_id"})
	write = func(l data.Lake) error {
		area := ""
		if l.AreaKM2 != 0 {
			area = decimal(l.AreaKM2)
		}
		return c.Write([]string{string(l.ID), l.ExternalID, l.Name, decimal(l.Point.Lat()), decimal(l.Point.Lon()), l.Region, area, l.WaterID})
	}
	return write, func() error { c.Flush(); return c.Error() }
}

// lakeProperties are the properties of a lake in GeoJSON. They include its point, which the geometry of a lake with an outline
// does not have.
type lakeProperties struct {
	ID         data.LakeID `json:"id"`
	ExternalID string      `json:"external_id"`
	Name       string      `json:"name"`
	Lat        float64     `json:"lat"`
	Lon        float64     `json:"lon"`
	Region     string      `json:"region"`
	AreaKM2    float64     `json:"area_km2"` // 0 if unknown, since null would mean the area of the polygons
	WaterID    string      `json:"water_id"`
	Outline    string      `json:"limnomap_outline,omitempty"`
}

// lakesAsGeoJSON writes each lake on its own line.
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
		}{"Feature", lakeProperties{l.ID, l.ExternalID, l.Name, l.Point.Lat(), l.Point.Lon(), l.Region, l.AreaKM2, l.WaterID, encodeOutline(l.Outline)}, geometry})
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
		if between != ",\n" { // no lake was written
			_, err := io.WriteString(w, between+"]}\n")
			return err
		}
		_, err := io.WriteString(w, "\n]}\n")
		return err
	}
}

func encodeOutline(o outline.Outline) string { return base64.StdEncoding.EncodeToString([]byte(o)) }

// decodeOutline is the inverse of encodeOutline, and returns "" for anything else.
func decodeOutline(s string) outline.Outline {
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return ""
	}
	return outline.Outline(b)
}
