package store

import (
	"context"
	"fmt"
	"strings"
)

// MaxSources bounds the sources of a database: products and laboratories of which there are some dozens. A server holds their names
// for each read of observations.
const MaxSources = 1000

// errManySources is returned for one source more than a database may have.
var errManySources = fmt.Errorf("more than %d sources", MaxSources)

// sourceNames are the names of sources by their number. Number 0 has no name.
type sourceNames map[int64]string

func (s sourceNames) name(number int64) (string, error) {
	if number == 0 {
		return "", nil
	}
	name, ok := s[number]
	if !ok {
		return "", fmt.Errorf("its source, number %d, is not in the table sources", number)
	}
	return name, nil
}

// sourcesQuery reads the number and the name of each source, of one more than there may be.
var sourcesQuery = fmt.Sprintf("SELECT key, %s FROM limnomap.sources LIMIT %d", atMost("name", maxTextBytes), MaxSources+1)

// scanSource adds the source of a row of sourcesQuery.
func (s sourceNames) scanSource(row rowScanner) error {
	var number int64
	var name string
	if err := row.Scan(&number, textColumn[string]{&name, "name", maxTextBytes}); err != nil {
		return fmt.Errorf("source number %d: %w", number, err)
	}
	if s[number] = name; len(s) > MaxSources {
		return errManySources
	}
	return nil
}

func readSources(ctx context.Context, q querier) (sourceNames, error) {
	names := make(sourceNames)
	err := q.query(ctx, func(rows rowIterator) error {
		for rows.Next() {
			if err := names.scanSource(rows); err != nil {
				return err
			}
		}
		return nil
	}, sourcesQuery)
	return names, err
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
		names, err := readSources(ctx, q)
		if err != nil {
			return 0, err
		}
		s.numbers = make(map[string]int64)
		for number, name := range names {
			s.numbers[name] = number
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
