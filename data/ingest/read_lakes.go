package ingest

import (
	"context"
	"fmt"
	"strings"

	"limnomap/data"
	"limnomap/data/store"
)

// ReadLakes reads lakes from files as [Lakes] does, without a store. Only an id and a place are required: a lake without a name has its id as
// name. If a row is rejected, there are no lakes, unless opts.SkipBad is set. Memory holds all of them.
func ReadLakes(ctx context.Context, files []File, opts *Options) ([]data.Lake, Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	l, err := opts.layout(lakeColumns(), lakeID, lakeName, nil)
	if err != nil {
		return nil, Report{}, fmt.Errorf("read lakes: %w", err)
	}
	l.columns[lakeName].required, l.json = false, featureCollection
	list := &lakeList{rows: make(map[data.LakeID]int)}
	report, err := readInto(ctx, list, lakeKind{layout: l}, files, opts)
	switch {
	case err != nil:
		return nil, report, fmt.Errorf("read lakes: %w", err)
	case report.Rejected > 0 && !opts.SkipBad:
		report.clearResults()
		return nil, report, nil
	}
	report.Written = true
	return list.lakes, report, nil
}

// A lakeList is a transaction that keeps lakes in memory. It has only the methods that an import of lakes calls.
type lakeList struct {
	Tx
	lakes    []data.Lake
	rows     map[data.LakeID]int
	repeated []int
}

func (l *lakeList) PutLakes(_ context.Context, lakes []data.Lake, _ store.LakeColumns) ([]store.Change, error) {
	changes := make([]store.Change, len(lakes))
	l.repeated = l.repeated[:0]
	for i, lake := range lakes {
		lake.ID = data.LakeID(strings.Clone(string(lake.ID))) // it may be a substring of a whole row
		lake.Name, lake.ExternalID, lake.Region = strings.Clone(lake.Name), strings.Clone(lake.ExternalID), strings.Clone(lake.Region)
		at, known := l.rows[lake.ID]
		switch {
		case !known:
			l.rows[lake.ID] = len(l.lakes)
			l.lakes = append(l.lakes, lake)
			changes[i] = store.Added
		case l.lakes[at] != lake:
			changes[i] = store.Contradicts
			fallthrough
		default:
			l.repeated = append(l.repeated, i)
		}
	}
	return changes, nil
}

func (l *lakeList) Repeated() []int { return l.repeated }
