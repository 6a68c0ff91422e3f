package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/paulmach/orb"

	"limnomap/data"
	"limnomap/data/inorder"
)

// Limits of a [World].
const (
	MaxWorldLakes = 2_000_000
	MaxWorldWeeks = 104
)

// WorldUntil is the day up to which a world is simulated by default: a Monday at the end of a northern summer, with blooms
// and clear skies. It is fixed, so that the same command gives the same files on every day.
const WorldUntil = "2025-08-25"

// minUntil is 1980-01-01: the first satellite to measure the colour of water (CZCS on Nimbus-7) was launched in October
// 1978.
const minUntil data.Date = 3652

// unseenShare is the share of lakes that are never seen: too narrow for a sensor's pixels, or in the shade of mountains.
const unseenShare = 0.03

// halfYear is the shift of a southern lake's seasons, in weeks.
const halfYear = 26

// A World is a simulation of lakes all over the world. Neither its lakes nor its values are real. It is safe for
// concurrent use.
type World struct {
	lakes     int
	first     data.Week // of the oldest pass
	dates     []data.Date
	districts []district
	offsets   []float64 // by trophic step; see model.offset
}

// NewWorld returns a world with so many lakes and so many weekly passes. The newest pass is on the last Monday that is not
// after until.
func NewWorld(lakes, weeks int, until data.Date) (*World, error) {
	if lakes < 1 || lakes > MaxWorldLakes {
		return nil, fmt.Errorf("lakes %d: want a number from 1 to %d", lakes, MaxWorldLakes)
	}
	if weeks < 1 || weeks > MaxWorldWeeks {
		return nil, fmt.Errorf("weeks %d: want a number from 1 to %d", weeks, MaxWorldWeeks)
	}
	if until < minUntil {
		return nil, fmt.Errorf("until %s: want a day from %s on", until, minUntil)
	}
	w := &World{
		lakes:     lakes,
		first:     until.Week() - data.Week(weeks-1), // a pass is on the first day of its week
		districts: slices.Concat(parseDistricts(districtsCSV), parseDistricts(continentsCSV)),
		offsets:   offsets(),
	}
	for i := range weeks {
		w.dates = append(w.dates, passDate(w.first+data.Week(i)))
	}
	return w, nil
}

// Write writes the lakes and their observations as two CSV files for the importers of data/ingest. The same world gives the
// same bytes. Progress, if not nil, is called now and then with the number of lakes written.
func (w *World) Write(ctx context.Context, lakes, observations io.Writer, progress func(lakes int)) error {
	if _, err := io.WriteString(lakes, "id,name,lat,lon,region,area_km2\n"); err != nil {
		return err
	}
	if _, err := io.WriteString(observations, "lake_id,date,chl,data_type\n"); err != nil {
		return err
	}
	written := 0
	render := func(b *lakeBatch) (struct{}, error) {
		w.render(b)
		return struct{}{}, nil
	}
	return inorder.Run(ctx, runtime.GOMAXPROCS(0), batchesAhead, w.batches, render, func(b *lakeBatch, _ struct{}) error {
		if _, err := lakes.Write(b.lakes); err != nil {
			return err
		}
		if _, err := observations.Write(b.observations); err != nil {
			return err
		}
		written += len(b.scattered)
		if progress != nil {
			progress(written)
		}
		return nil
	})
}

// A region is what the lakes of one district have in common.
type region struct {
	*district
	first   data.Week // of the oldest pass, in the seasons of its hemisphere
	weather weather
}

// batchLakes is how many lakes are rendered together: enough for little overhead between goroutines, and few enough that a
// batch of two years of passes takes a megabyte or two.
const batchLakes = 512

// batchesAhead is how many batches for each processor are in memory before the oldest is written.
const batchesAhead = 2

// A lakeBatch holds neighbouring lakes of one region, and their lines in both files.
type lakeBatch struct {
	region              *region
	scattered           []scatteredLake
	lakes, observations []byte
}

func newBatch(r *region) *lakeBatch {
	return &lakeBatch{region: r, scattered: make([]scatteredLake, 0, batchLakes)}
}

// batches passes all lakes to yield in order, in batches of one region each.
func (w *World) batches(yield func(*lakeBatch) bool) {
	total := 0.0
	for i := range w.districts {
		total += w.districts[i].share
	}
	// Each district ends at the rounded cumulative share, so that no lake is lost by rounding.
	from, sum := 0, 0.0
	for i := range w.districts {
		d := &w.districts[i]
		sum += d.share
		to := min(int(math.Round(float64(w.lakes)*sum/total)), w.lakes)
		if !w.district(d, from, to-from, yield) {
			return
		}
		from = to
	}
}

// district passes the n lakes of d to yield and reports whether to continue.
func (w *World) district(d *district, from, n int, yield func(*lakeBatch) bool) bool {
	reg := &region{district: d, first: w.first}
	if d.lat < 0 {
		reg.first -= halfYear
	}
	reg.weather = weatherOf(d.code, reg.first, len(w.dates))
	b := newBatch(reg)
	for l := range d.scatter(from, n) {
		if len(b.scattered) == cap(b.scattered) {
			if !yield(b) {
				return false
			}
			b = newBatch(reg)
		}
		b.scattered = append(b.scattered, l)
	}
	return len(b.scattered) == 0 || yield(b)
}

// render fills in the text of a batch.
func (w *World) render(b *lakeBatch) {
	values := make([]data.Chlorophyll, len(w.dates))
	level := 0.0 // at the centre of the cluster
	for i := range b.scattered {
		l := &b.scattered[i]
		id := fmt.Sprintf("SIM_%s_%07d", b.region.code, l.number)
		b.lakes = appendLake(b.lakes, id, b.region.name, l)
		if i == 0 || l.centre != b.scattered[i-1].centre {
			level = w.levelAt(l.centre)
		}
		m := w.model(id, level+l.rich, l.area)
		if m.noise.uniform(0, unseenStream) < unseenShare {
			continue
		}
		m.satellite(b.region.first, values, b.region.weather)
		b.observations = appendPasses(b.observations, id, w.dates, values)
	}
}

func appendLake(text []byte, id, region string, l *scatteredLake) []byte {
	text = append(append(text, id...), ",Simulated lake "...)
	text = strconv.AppendInt(text, int64(l.number), 10)
	text = strconv.AppendFloat(append(text, ','), l.point.Lat(), 'f', 5, 64) // to a metre
	text = strconv.AppendFloat(append(text, ','), l.point.Lon(), 'f', 5, 64)
	text = append(append(append(text, ','), region...), " (simulated),"...)
	text = strconv.AppendFloat(text, l.area, 'f', 3, 64)
	return append(text, '\n')
}

func appendPasses(text []byte, id string, dates []data.Date, values []data.Chlorophyll) []byte {
	for i, c := range values {
		text = append(append(text, id...), ',')
		text = append(dates[i].Time().AppendFormat(text, "2006-01-02"), ',')
		if c.Valid() {
			text = strconv.AppendFloat(text, c.Float(), 'f', 2, 64)
		}
		text = append(text, ",satellite\n"...)
	}
	return text
}

// Trophic levels of the world's lakes are rounded to steps, so that the mean of a year's season, which takes hundreds of
// exponentials, is looked up in a table. A step is 2 %, less than the eye or a sensor can distinguish.
const (
	stepsPerDecade = 100
	poorest        = -50 // steps: 0.3 µg/l, an Arctic or high mountain lake
	richest        = 208 // 120 µg/l, a village pond
)

// offsets returns the offsets of models by trophic step from poorest to richest.
func offsets() []float64 {
	var list []float64
	for step := poorest; step <= richest; step++ {
		m := model{rich: float64(step) / stepsPerDecade}
		m.mean = math.Pow(10, m.rich)
		list = append(list, m.seasonOffset())
	}
	return list
}

// levelAt returns the natural logarithm of the mean chlorophyll of the median lake of 1 km² at p: the mean of the districts'
// values, weighted by the fourth power of the nearness (Shepard 1968) in half-axes, so that districts blend into each other.
func (w *World) levelAt(p orb.Point) float64 {
	sum, weights := 0.0, 0.0
	for i := range w.districts {
		d := &w.districts[i]
		if d.median == 0 {
			continue
		}
		const middle = 0.1 // half-axes squared, within which hardly any other district counts
		nearness := 1 / (middle + d.distance2(p))
		sum += nearness * nearness * math.Log(d.median)
		weights += nearness * nearness
	}
	return sum / weights
}

// model returns the model of a lake with that area, where level is the result of [World.levelAt] for its position.
func (w *World) model(id string, level, area float64) *model {
	m := &model{noise: noiseOf(id)}
	level += areaExponent*math.Log(area) + meanSpread*m.noise.normal(0, meanStream)
	step := int(math.Round(stepsPerDecade * level / math.Ln10))
	step = min(max(step, poorest), richest)
	m.rich = float64(step) / stepsPerDecade
	m.offset = w.offsets[step-poorest]
	return m
}
