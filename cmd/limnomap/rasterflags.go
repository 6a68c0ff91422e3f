package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"limnomap/cmd/limnomap/config"
	"limnomap/data"
	"limnomap/data/ingest/satellite"
)

// rasterFlags say how satellite files are read, and which pixels make the value of a lake. Each source of a refresh has its own.
type rasterFlags struct {
	Product        string                   `help:"Product of the files, which says how they are read: ${enum}. By default their content and names say it." enum:"auto,${products}" default:"auto"`
	Variable       string                   `help:"Variable of NetCDF files with the values (default: that of the product)." placeholder:"NAME"`
	Band           int                      `help:"Band of GeoTIFF files with the values, from 1 on (default: the only one)." placeholder:"N" allowed:"0.."`
	Scale          float64                  `help:"What one unit of the values is in µg/l, for rasters of chlorophyll whose unit is not known: 1 for mg/m³." placeholder:"FACTOR" allowed:"0.."`
	Valid          string                   `help:"Which pixels count, in place of what the file says about it (valid_pixel_expression): an expression of variables, bands (b1) and flags, such as 'not quality_flags.cloud and chl_unc < 50', or true for all." placeholder:"EXPRESSION"`
	Source         string                   `help:"Source of the values, as the map shows it (default: the product). For a product, a name that begins with its own, such as EPA CyAN V6." placeholder:"NAME"`
	Inside         satellite.Inside         `help:"Pixels of a lake: full (wholly inside its outline) or centre (their centre is inside)." default:"full"`
	Shore          shoreFlag                `help:"Pixels from the shore that are left out: a number, or auto for 2, or fewer in lakes where fewer than 10 pixels would remain." default:"auto" placeholder:"PIXELS|auto"`
	MinPixels      int                      `help:"Pixels with a value that a lake needs." default:"3" allowed:"1.."`
	MinShare       float64                  `help:"Share of a lake's pixels that must have a value." default:"0.1" allowed:"0..1"`
	WithoutOutline satellite.WithoutOutline `help:"Lakes of which only a point is known: grow (the water around the nearest pixel with a value), skip, or disc:METRES (everything around the point, which is often wrong)." default:"grow" placeholder:"grow|skip|disc:METRES"`
	Statistic      satellite.Statistic      `help:"What makes one value of the pixels: median, mean or p90." default:"median"`
	Pixels         string                   `help:"Keep the pixels of the lakes beside their values: ${enum}." enum:"on,off" default:"on"`
	KeepPixels     config.Period            `help:"How long the pixels of a source are kept: each import of its files removes older ones, and keeps no values less." default:"730d" allowed:"1d.." placeholder:"PERIOD"`
}

// options returns the options of an extraction.
func (f *rasterFlags) options() *satellite.Options {
	o := &satellite.Options{Variable: f.Variable, Band: f.Band, Scale: f.Scale, Valid: f.Valid, Source: f.Source, Inside: f.Inside, Shore: f.Shore.Shore, MinPixels: f.MinPixels,
		MinShare: data.Known(f.MinShare), WithoutOutline: f.WithoutOutline, Statistic: f.Statistic, WithoutPixels: f.Pixels == "off",
		PixelDays: int(time.Duration(f.KeepPixels) / config.Day)}
	if f.Product != autoProduct {
		o.Product = satellite.ProductID(f.Product)
	}
	return o
}

// A refreshSource is a source of a refresh: in a file a folder or a URL, or a mapping with the settings of its files.
type refreshSource struct {
	From config.Location `help:"Folder or URL."`
	rasterFlags
	tableFormatFlags
}

func (s *refreshSource) UnmarshalText(text []byte) error {
	return config.UnmarshalMapping(text, s, vars())
}

// MarshalYAML implements yaml.Marshaler.
func (s refreshSource) MarshalYAML() (any, error) { return config.MarshalMapping(&s, vars()) }

// Reveal returns the folder or the URL, which may have a password.
func (s refreshSource) Reveal() string { return s.From.Reveal() }

// autoProduct means that the content and the name of a file say its product.
const autoProduct = "auto"

// A shoreFlag is the value of --shore.
type shoreFlag struct{ satellite.Shore }

// Decode implements kong.MapperValue. A number below zero is a wrong value, and not the next flag.
func (f *shoreFlag) Decode(ctx *kong.DecodeContext) error {
	text, err := popNumber(ctx, "PIXELS or auto as the")
	if err != nil {
		return err
	}
	return f.UnmarshalText([]byte(text))
}

// dateFlag is the date of all files of a command.
type dateFlag struct {
	Date string `help:"Date of the values (default: the last day that the file or its name says)." placeholder:"YYYY-MM-DD" check:"date"`
}

// set sets the date of the values.
func (f *dateFlag) set(o *satellite.Options) error {
	if f.Date == "" {
		return nil
	}
	date, err := data.ParseDate(f.Date)
	if err != nil {
		return fmt.Errorf("--date: %w", err)
	}
	o.Date = data.Known(date)
	return nil
}

// productNames returns the ids of all products, for a flag.
func productNames() string {
	var names []string
	for _, p := range satellite.Products() {
		names = append(names, string(p.ID))
	}
	return strings.Join(slices.Compact(names), ",")
}
