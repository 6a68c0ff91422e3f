package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"limnomap/data"
	"limnomap/data/ingest/satellite"
	"limnomap/data/store"
)

// A preference is the value of --prefer: products, or the beginnings of sources, the best first.
type preference data.SourceOrder

// UnmarshalText reads names separated by commas. The id of a product stands for its source.
func (p *preference) UnmarshalText(text []byte) error {
	*p = nil
	for name := range strings.SplitSeq(string(text), ",") {
		name = strings.TrimSpace(name)
		if product, err := satellite.ProductOf(satellite.ProductID(name)); err == nil {
			name = product.Source
		}
		*p = append(*p, name)
	}
	return data.SourceOrder(*p).Check()
}

// MarshalText writes the names as they are read.
func (p preference) MarshalText() ([]byte, error) { return []byte(strings.Join(p, ",")), nil }

// write replaces the order of a database, if one was given.
func (p preference) write(ctx context.Context, tx store.Tx) error {
	if len(p) == 0 {
		return nil
	}
	return tx.PreferSources(ctx, data.SourceOrder(p))
}

// replace replaces the order of a database in a transaction of its own, if one was given and another one is stored. Sources are those of the
// values that are yet to come.
func (p preference) replace(ctx context.Context, s *store.Store, sources []string, log *slog.Logger) error {
	if len(p) == 0 {
		return nil
	}
	stored, err := s.PreferredSources(ctx)
	if err != nil || slices.Equal(stored, data.SourceOrder(p)) {
		return err
	}
	if err := p.warn(ctx, s, sources, log); err != nil {
		return err
	}
	return s.Import(ctx, func(tx store.Tx) error { return p.write(ctx, tx) })
}

// warn logs the names that stand for no product and for no source, as after a typing error: such a name changes nothing. It is not an error,
// since the values of a source may come later.
func (p preference) warn(ctx context.Context, s *store.Store, sources []string, log *slog.Logger) error {
	unknown := p.unknown(sources)
	if len(unknown) == 0 {
		return nil
	}
	unknown, err := withoutStored(ctx, s, unknown)
	if err != nil {
		return err
	}
	for _, name := range unknown {
		log.Warn("a preferred source is no product, and no values of it are found", "name", name, "products", productNames())
	}
	return nil
}

// unknown returns the names that stand for no source of a product and for none of these sources.
func (p preference) unknown(sources []string) []string {
	for _, product := range satellite.Products() {
		sources = append(slices.Clip(sources), product.Source)
	}
	var names []string
	for _, name := range p {
		if _, ofProduct := satellite.OfSource(name); !ofProduct && !slices.ContainsFunc(sources, func(source string) bool { return standsFor(name, source) }) {
			names = append(names, name)
		}
	}
	return names
}

// standsFor reports whether a preferred name stands for a source.
func standsFor(name, source string) bool { return data.SourceOrder{name}.Rank(source) > 0 }

// maxSearched bounds the values in which sources are searched for. A database of all lakes has far more, in which a name that is not there would
// be searched for minutes.
const maxSearched = 1_000_000

// withoutStored returns the names that stand for no source of the first values of a database.
func withoutStored(ctx context.Context, s *store.Store, names []string) ([]string, error) {
	names = slices.Clone(names)
	searched, last := 0, ""
	enough := errors.New("enough was searched")
	_, err := s.Scan(ctx, func(data.Lake) error { return nil }, func(o data.Observation) error {
		if o.Source != last {
			last = o.Source
			names = slices.DeleteFunc(names, func(name string) bool { return standsFor(name, last) })
		}
		if searched++; len(names) == 0 || searched == maxSearched {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return names, err
}
