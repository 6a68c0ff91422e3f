package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"limnomap/data"
)

// MaxSources bounds the sources of a database: products and laboratories of which there are some dozens. A server holds their names
// for each read of observations.
const MaxSources = 1000

// errManySources is returned for one source more than a database may have.
var errManySources = fmt.Errorf("more than %d sources", MaxSources)

// A source is a product or a laboratory.
type source struct {
	name   string
	rank   uint8 // by the order in which sources are preferred
	ranked bool  // whether rank is set
}

// knownSources are the sources of a database.
type knownSources struct {
	byNumber  map[int64]source // of those with a name
	preferred map[int64]string // by rank
	order     data.SourceOrder // of preferred, when all rows are scanned
}

func newKnownSources() *knownSources {
	return &knownSources{byNumber: make(map[int64]source), preferred: make(map[int64]string)}
}

// of returns the source with that number. Number 0 has no name.
func (k *knownSources) of(number int64) (source, error) {
	if number == 0 {
		return source{}, nil
	}
	s, ok := k.byNumber[number]
	if !ok {
		return source{}, fmt.Errorf("its source, number %d, is not in the table sources", number)
	}
	if !s.ranked { // most reads need few of the sources
		s.rank, s.ranked = k.order.Rank(s.name), true
		k.byNumber[number] = s
	}
	return s, nil
}

// sourcesQuery reads the number and the name of each source, and the rank and the name of each preferred one, of one more than there may
// be. It is one query, because each history needs it.
var sourcesQuery = fmt.Sprintf(`SELECT false AS preferred, key, name FROM (SELECT key, %[1]s AS name FROM limnomap.sources LIMIT %[2]d) AS known
	UNION ALL SELECT true, rank, name FROM (SELECT rank, %[1]s AS name FROM limnomap.preferred_sources LIMIT %[3]d) AS ranked`,
	atMost("name", maxTextBytes), MaxSources+1, data.MaxSourceOrder+1)

// scan adds the source of a row of sourcesQuery.
func (k *knownSources) scan(row rowScanner) error {
	var preferred bool
	var number int64
	var name string
	if err := row.Scan(&preferred, &number, textColumn[string]{&name, "name", maxTextBytes}); err != nil {
		return fmt.Errorf("source number %d: %w", number, err)
	}
	if preferred {
		k.preferred[number] = name
		return nil
	}
	if k.byNumber[number] = (source{name: name}); len(k.byNumber) > MaxSources {
		return errManySources
	}
	return nil
}

// finish sets the order, when all rows are scanned.
func (k *knownSources) finish() error {
	for _, rank := range slices.Sorted(maps.Keys(k.preferred)) {
		k.order = append(k.order, k.preferred[rank])
	}
	if err := k.order.Check(); err != nil {
		return fmt.Errorf("table preferred_sources: %w", err)
	}
	return nil
}

func readSources(ctx context.Context, q querier) (*knownSources, error) {
	known := newKnownSources()
	err := q.query(ctx, eachRow(known.scan), sourcesQuery)
	if err == nil {
		err = known.finish()
	}
	return known, err
}

// PreferredSources returns the order of the last PreferSources.
func (s *Store) PreferredSources(ctx context.Context) (data.SourceOrder, error) {
	known, err := read(ctx, s, "read the preferred sources", readSources)
	if err != nil {
		return nil, err
	}
	return known.order, nil
}

// preferSources replaces the order in which sources are preferred, and reports whether it was another one.
func preferSources(ctx context.Context, q querier, order data.SourceOrder) (changed bool, err error) {
	known, err := readSources(ctx, q)
	if err != nil || slices.Equal(known.order, order) {
		return false, err
	}
	w := writer{ctx: ctx, q: q}
	w.exec("DELETE FROM limnomap.preferred_sources")
	for i, name := range order {
		w.exec("INSERT INTO limnomap.preferred_sources (rank, name) VALUES ($1, $2)", i+1, name)
	}
	return w.err == nil, w.err
}

// sourceNumbers finds the numbers of sources during an import, and stores new sources.
type sourceNumbers struct {
	numbers map[string]int64 // nil until the first is asked for
}

// of returns the number of a source.
func (s *sourceNumbers) of(ctx context.Context, q querier, name string) (int64, error) {
	if name == "" {
		return 0, nil
	}
	if s.numbers == nil {
		known, err := readSources(ctx, q)
		if err != nil {
			return 0, err
		}
		s.numbers = make(map[string]int64)
		for number, source := range known.byNumber {
			s.numbers[source.name] = number
		}
	}
	if number, ok := s.numbers[name]; ok {
		return number, nil
	}
	if len(s.numbers) >= MaxSources {
		return 0, errManySources
	}
	name = strings.Clone(name) // it may be a part of a whole row
	var number int64
	// There is one import at a time. A sequence would go on in an import that is rolled back.
	err := q.queryRow(ctx, "INSERT INTO limnomap.sources (key, name) SELECT coalesce(max(key), 0) + 1, $1 FROM limnomap.sources RETURNING key", name).Scan(&number)
	if err == nil {
		s.numbers[name] = number
	}
	return number, err
}
