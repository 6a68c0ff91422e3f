package ingest

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"

	"limnomap/data"
)

// The bounds of what an import holds of the portal's results until it has read all files.
const (
	// maxWQPSamples bounds the samples, and the activities with chlorophyll: with both, about 270 MB.
	maxWQPSamples = 1_000_000
	// maxWQPText bounds the different ids of lakes, names of organizations and of methods, in bytes.
	maxWQPText = 32 << 20
)

// wqpSamples combines the results of the portal into observations: one for each lake, day and organization. Results of one observation may
// be anywhere in the files, so nothing is written before all are read. The observations do not depend on the order of the results.
type wqpSamples struct {
	today       data.Date
	max         int // samples
	samples     []wqpSample
	places      map[wqpKey]int32 // in samples
	chlorophyll map[wqpActivityKey]wqpChl
	seed        maphash.Seed

	texts     []string
	textBytes int
	numbers   map[string]uint32 // of texts
}

// A wqpKey identifies a sample. The lake and the source are numbers of texts.
type wqpKey struct {
	lake, source uint32
	date         data.Date
}

// A wqpActivityKey identifies an activity of a sample.
type wqpActivityKey struct {
	sample   int32
	activity uint64 // a hash of its id, or the time if it has none
}

// A wqpSample is what the results of a sample give, except for chlorophyll.
type wqpSample struct {
	wqpKey
	file             int32
	results, unzoned int32
	line             int // of the first result
	time             int64
	cells            float64 // or NoCellDensity
	cellsBelow       bool    // whether cells is half a limit
	secchi           data.Optional[data.Hundredths]
	temperature      data.Optional[data.Hundredths]
}

// A wqpChl is a result of chlorophyll.
type wqpChl struct {
	value, limit data.Chlorophyll // limit is the upper one if below is true
	flags        data.Flags
	method       uint32
	time         int64
	quality      data.Quality
	rank         uint8
	below, above bool
}

func newWQPSamples(today data.Date) *wqpSamples {
	return &wqpSamples{today: today, max: maxWQPSamples, places: make(map[wqpKey]int32), chlorophyll: make(map[wqpActivityKey]wqpChl),
		seed: maphash.MakeSeed(), numbers: make(map[string]uint32)}
}

// number returns the number of a text.
func (s *wqpSamples) number(text string) (uint32, error) {
	if n, ok := s.numbers[text]; ok {
		return n, nil
	}
	if s.textBytes += len(text); s.textBytes > maxWQPText {
		return 0, tooLarge("the ids of stations and the names of organizations and methods have more than %d bytes, in all files of this import: divide the files among several imports, by organization", maxWQPText)
	}
	n := uint32(len(s.texts))
	text = strings.Clone(text) // it is a part of a row
	s.texts, s.numbers[text] = append(s.texts, text), n
	return n, nil
}

// add adds the result of a row. An error that is ErrTooLarge ends the import.
func (s *wqpSamples) add(r *row, from origin) error {
	w, err := parseWQP(r)
	if err != nil {
		return err
	}
	at, err := s.sample(&w, from)
	if err != nil {
		return err
	}
	p := &s.samples[at]
	p.results++
	if w.unzoned {
		p.unzoned++
	}
	p.time = min(p.time, w.time)
	switch w.quantity {
	case wqpChlorophyll:
		return s.addChlorophyll(&w, at)
	case wqpCells:
		if w.below {
			w.value /= 2
		}
		if w.value > p.cells || w.value == p.cells && !w.below {
			p.cells, p.cellsBelow = w.value, w.below
		}
	case wqpSecchi: // the least clear water counts
		if h := data.HundredthsOf(w.value); !p.secchi.Known || h < p.secchi.Value {
			p.secchi = data.Known(h)
		}
	case wqpTemperature:
		if h := data.HundredthsOf(w.value); !p.temperature.Known || h > p.temperature.Value {
			p.temperature = data.Known(h)
		}
	}
	return nil
}

// sample returns the index of the sample of a result.
func (s *wqpSamples) sample(w *wqpResult, from origin) (int32, error) {
	lake, err := s.number(string(w.lake))
	if err != nil {
		return 0, err
	}
	source, err := s.number(w.source)
	if err != nil {
		return 0, err
	}
	key := wqpKey{lake, source, w.date}
	at, ok := s.places[key]
	if ok {
		return at, nil
	}
	if len(s.samples) == s.max {
		return 0, s.full("samples (days of a station and an organization)")
	}
	at = int32(len(s.samples))
	s.places[key] = at
	s.samples = append(s.samples, wqpSample{wqpKey: key, file: int32(from.file), line: from.number, time: noTime, cells: data.NoCellDensity})
	return at, nil
}

func (s *wqpSamples) full(what string) error {
	return tooLarge("an import takes at most %d %s of the Water Quality Portal: divide the files among several imports, by station or by year", s.max, what)
}

// addChlorophyll keeps the preferred result of each activity.
func (s *wqpSamples) addChlorophyll(w *wqpResult, sample int32) error {
	method, err := s.number(w.method)
	if err != nil {
		return err
	}
	c := wqpChl{flags: w.flags, method: method, time: w.time, quality: w.quality, rank: w.rank, below: w.below, above: w.above}
	if c.below {
		if c.limit, err = data.ChlorophyllOf(w.value); err != nil {
			return err
		}
		w.value /= 2
	}
	if c.value, err = data.ChlorophyllOf(w.value); err != nil {
		return err
	}
	c.limit = max(c.limit, c.value)
	key := wqpActivityKey{sample, uint64(w.time)}
	if w.activity != "" {
		key.activity = maphash.String(s.seed, w.activity)
	}
	if before, ok := s.chlorophyll[key]; ok && s.compare(before, c, true) <= 0 {
		return nil
	} else if !ok && len(s.chlorophyll) == s.max {
		return s.full("activities with chlorophyll")
	}
	s.chlorophyll[key] = c
	return nil
}

// compare returns a negative number if a is preferred to b. Within one activity, results are of the same water, and the better method counts;
// among several, the highest value: a bloom must be visible. The rest only makes the order complete.
func (s *wqpSamples) compare(a, b wqpChl, sameActivity bool) int {
	method := 0
	if sameActivity {
		method = cmp.Compare(a.rank, b.rank)
	}
	return cmp.Or(falseFirst(a.quality == data.Poor, b.quality == data.Poor), falseFirst(a.below, b.below), method, cmp.Compare(b.value, a.value),
		cmp.Compare(a.rank, b.rank), falseFirst(b.above, a.above), cmp.Compare(a.quality, b.quality), cmp.Compare(a.flags, b.flags), cmp.Compare(a.limit, b.limit),
		cmp.Compare(a.time, b.time), strings.Compare(s.texts[a.method], s.texts[b.method]))
}

// falseFirst compares two booleans.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// The columns that a sample has: what a file does not say about a sample keeps its stored value.
const (
	wqpHasChl    = columnSet(1<<obsChl | 1<<obsMeasuredAt | 1<<obsQuality | 1<<obsFlags | 1<<obsMethod)
	wqpHasAlways = columnSet(1<<obsLake | 1<<obsDate | 1<<obsType | 1<<obsSource)
)

// pass passes the observations on, after all results are added. Those of a file are in one piece, and in it those with the same columns,
// which are written together.
func (s *wqpSamples) pass(to func(parsed[data.Observation]) error) error {
	best, order := make([]wqpChl, len(s.samples)), make([]int32, len(s.samples))
	for i := range best {
		best[i].value, order[i] = data.NoChlorophyll, int32(i)
	}
	for key, c := range s.chlorophyll {
		if b := &best[key.sample]; !b.value.Valid() || s.compare(c, *b, false) < 0 {
			*b = c
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		p, q := &s.samples[a], &s.samples[b]
		return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.has(&best[a]), q.has(&best[b])), cmp.Compare(a, b))
	})
	for _, i := range order {
		if err := to(s.row(&s.samples[i], &best[i])); err != nil {
			return err
		}
	}
	return nil
}

// has returns the columns of a sample whose result of chlorophyll is c.
func (p *wqpSample) has(c *wqpChl) columnSet {
	has := wqpHasAlways
	if c.value.Valid() {
		has |= wqpHasChl
	}
	for _, of := range []struct {
		known  bool
		column int
	}{{p.cells != data.NoCellDensity, obsDensity}, {p.secchi.Known, obsSecchi}, {p.temperature.Known, obsTemperature}} {
		if of.known {
			has = has.with(of.column)
		}
	}
	return has
}

// row returns the observation of a sample, or why it is rejected.
func (s *wqpSamples) row(p *wqpSample, c *wqpChl) parsed[data.Observation] {
	o := data.Observation{LakeID: data.LakeID(s.texts[p.lake]), Date: p.date, Type: data.InSitu, Source: s.texts[p.source], Chlorophyll: c.value,
		Level: data.NoLevel, CellDensity: p.cells, Details: data.Details{Secchi: p.secchi, WaterTemperature: p.temperature}}
	row := parsed[data.Observation]{origin: origin{file: int(p.file), number: p.line}, id: o.LakeID, has: p.has(c), rows: int(p.results), unzoned: int(p.unzoned)}
	measured := p.time
	if c.value.Valid() {
		measured = c.time
		o.Quality, o.Details.Flags, o.Details.Method = c.quality, c.flags, s.texts[c.method]
		switch {
		case c.below:
			o.Details.BelowLimit, o.Details.Upper = true, data.Known(c.limit)
			row.censored++
		case c.above:
			o.Details.Lower = data.Known(c.value)
		}
	}
	if p.cellsBelow {
		row.censored++
	}
	if measured != noTime {
		o.MeasuredAt = time.Unix(measured, 0).UTC()
	}
	if err := checkSample(o, s.today); err != nil {
		row.reason = err.Error()
		return row
	}
	row.value = o
	return row
}

// checkSample returns an error if o cannot be stored, or if it has a count of cells that no map would show: the count is not rejected by its
// source, since those are left out before.
func checkSample(o data.Observation, today data.Date) error {
	if o.CellDensity != data.NoCellDensity && (!o.Chlorophyll.Valid() || o.Quality == data.Poor) {
		cells := strconv.FormatFloat(o.CellDensity, 'f', -1, 64) + " cells/ml of cyanobacteria"
		if o.Chlorophyll.Valid() {
			return fmt.Errorf("%s, while the chlorophyll of the same station, day and organization is rejected by its source: want a value of chlorophyll that is not rejected", cells)
		}
		return fmt.Errorf("%s without chlorophyll of the same station, day and organization: want a value of chlorophyll too", cells)
	}
	return checkObservation(&o, today)
}
