package render

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type (
	outerForm func(weights, logs []float32, stride int, column, row []float32, gain, log float32)
	rowsForm  func(dst, src []float32, stride int, weights []float32)
	topForm   func(weights, logs, mediumWeights, mediumLogs, highWeights, highLogs []float32)
	shadeForm func(dst []uint8, weights, logs []float32, t *shadeTable, add [2]uint8)
)

// Each loop has two forms: in plain Go, and as the renderer calls it, which may use vector instructions.
var (
	outerForms = map[string]outerForm{"plain": addOuterGo, "called": addOuter}
	rowsForms  = map[string]rowsForm{"plain": addRowsGo, "called": addRows}
	topForms   = map[string]topForm{"plain": keepTopGo, "called": keepTop}
	shadeForms = map[string]shadeForm{"plain": shadeRowGo, "called": shadeRow}
)

// TestKeepTop gives sums of low, medium and high lakes, each with its own logarithm, to both forms.
func TestKeepTop(t *testing.T) {
	for _, c := range []struct {
		name              string
		low, medium, high float32 // weights
		weight, log       float32
	}{
		{"nothing", 0, 0, 0, 0, 0},
		{"low only", 3, 0, 0, 3, 1},
		{"medium only, faint", 0, 0.01, 0, 0.01, 2},
		{"high only", 0, 0, 3, 3, 4},
		{"beside a medium disc", 0.6, 0.06, 0, 0.6 * 0.5, 1},
		{"nearer", 0.4, 0.2, 0, 0.4 * 0.28, 1},
		{"on a medium disc", 0.4, 0.8, 0, 0.46 * 0.9 * 0.9, 2},
		{"in its middle", 0.05, 0.8, 0, 0.75 * 0.946875 * 0.946875, 2},
		{"in the same place", 1, 1, 0, 0.45 * 0.9 * 0.9, 2},
		{"one of six", 5, 1, 0, 0.45 * 0.9 * 0.9, 2},
		{"low lakes are many", 27.5, 1, 0, solid * 0.9, 1},
		{"medium lakes are many too", 10, 5, 0, 0.45 * 0.9 * 0.9, 2},
		{"the edge of a high disc on a medium one", 0, 1, 0.03 + highRim/4, solid*9/16 - highRim/4, 2},
		{"nearer to the high disc", 0, 1, 0.03 + highRim*3/8, solid*25/64 - highRim*3/8, 2},
		{"between both", 0, 1, 0.03 + highRim/2, solid / 4 * (1 - highRim*2/solid), 2},
		{"where both weigh the same", 0, 1, 0.03 + highRim*9/16, solid * 49 / 256 * leastTied, 2},
		{"nearer still", 0, 1, 0.03 + highRim*5/8, highRim*5/8 - solid*9/64, 4},
		{"on a high disc", 1, 1, 0.5, 0.44, 4},
		{"a high lake among many", 17, 3, 1, 0.4, 4},
		{"among too many", 44, 0, 1, solid, 1},
	} {
		for form, keepTop := range topForms {
			const n = lanes + 3
			fill := func(v float32) []float32 { return slices.Repeat([]float32{v}, n) }
			weights, logs := fill(c.low+c.medium+c.high), fill(c.low*1+c.medium*2+c.high*4)
			keepTop(weights, logs, fill(c.medium), fill(2*c.medium), fill(c.high), fill(4*c.high))
			for i := range n {
				if math.Abs(float64(weights[i]-c.weight)) > 1e-6 || math.Abs(float64(logs[i]-c.weight*c.log)) > 1e-5 {
					t.Errorf("%s, %s: pixel %d has the weight %v and the logs %v, want %v and %v", c.name, form, i, weights[i], logs[i], c.weight, c.weight*c.log)
					break
				}
			}
		}
	}
}

// TestKeepTopFormsAreEqual compares the bits of both forms, of random sums.
func TestKeepTopFormsAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "pixels")
		weight := rapid.OneOf(rapid.Just(float32(0)), rapid.Float32Range(0, 1000), rapid.Float32Range(0, 1), rapid.Float32Range(0, 0.1), rapid.Float32Range(0, 1e-3))
		draw := func(what string) []float32 { return rapid.SliceOfN(weight, n, n).Draw(t, what) }
		in := [6][]float32{draw("weights"), draw("logs"), draw("medium"), draw("medium logs"), draw("high"), draw("high logs")}
		var out [2][2][]float32
		for i, keepTop := range []topForm{keepTopGo, keepTop} {
			weights, logs := slices.Clone(in[0]), slices.Clone(in[1])
			keepTop(weights, logs, in[2], in[3], in[4], in[5])
			out[i] = [...][]float32{weights, logs}
		}
		if !slices.EqualFunc(out[0][:], out[1][:], slices.Equal) {
			t.Fatalf("plain %v, called %v", out[0], out[1])
		}
	})
}

func TestShadeRow(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	table := &shadeTable{valueScale: valueCells / 2}
	table.cover[coverCells/4] = 15
	table.cover[coverCells/2] = 20 // a level and a quarter
	table.cover[coverCells] = 32
	table.entries[0] = 99 // no level, so never seen
	table.entries[valueCells] = 11
	table.entries[valueCells+valueCells/2] = 12
	table.entries[2*valueCells] = 20
	table.entries[3*valueCells-1] = 22
	for _, c := range []struct {
		name         string
		weight, logs float32
		faint        float32
		add          uint8
		want         uint8
	}{
		{name: "nothing", want: 0},
		{name: "nothing, dithered", add: 15, want: 0},
		{name: "less than a level", weight: 0.25, want: 0},
		{name: "a level when dithered", weight: 0.25, add: 1, want: 11},
		{name: "faint", weight: 0.25, add: 1, faint: 0.25, want: 0},
		{name: "half, first value", weight: 0.5, want: 11},
		{name: "half, middle value", weight: 0.5, logs: 0.5, want: 12},
		{name: "half, dithered up", weight: 0.5, add: 12, want: 20},
		{name: "full", weight: 1, want: 20},
		{name: "a crowd", weight: 1e6, want: 20},
		{name: "past the last value", weight: 1, logs: 3, want: 22},
		{name: "before the first value", weight: 1, logs: -1, want: 20},
		{name: "weight not a number", weight: nan, add: 15, want: 0},
		{name: "weight infinite", weight: inf, logs: 2, want: 20},
		{name: "value infinite", weight: 1, logs: inf, want: 22},
		{name: "value not a number", weight: 1, logs: nan, want: 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = lanes + 3
			fill := func(v float32) []float32 { return slices.Repeat([]float32{v}, n) }
			table.faint = c.faint
			for name, shadeRow := range shadeForms {
				dst := slices.Repeat([]uint8{1}, n)
				shadeRow(dst, fill(c.weight), fill(c.logs), table, [2]uint8{c.add, c.add})
				if want := slices.Repeat([]uint8{c.want}, n); !slices.Equal(dst, want) {
					t.Errorf("%s: shadeRow gave %v, want %v", name, dst, want)
				}
			}
		})
	}
}

// TestRowsPanicOnShortSlices checks that no form reads or writes past a slice.
func TestRowsPanicOnShortSlices(t *testing.T) {
	f := func(n int) []float32 { return make([]float32, n) }
	dst, table, add := make([]uint8, 2*lanes), &shadeTable{}, [2]uint8{}
	for what, call := range map[string]func(form string){
		"short weights":    func(form string) { outerForms[form](f(15), f(26), 10, f(16), f(2), 1, 1) },
		"short logs":       func(form string) { outerForms[form](f(26), f(15), 10, f(16), f(2), 1, 1) },
		"negative stride":  func(form string) { outerForms[form](f(26), f(26), -1, f(16), f(3), 1, 1) },
		"overflow":         func(form string) { outerForms[form](f(26), f(26), math.MaxInt/2+1, f(16), f(5), 1, 1) },
		"short src":        func(form string) { rowsForms[form](f(16), f(25), 10, f(2)) },
		"backwards in src": func(form string) { rowsForms[form](f(16), f(26), -1, f(3)) },
		"short shade":      func(form string) { shadeForms[form](dst, f(15), f(16), table, add) },
		"short shade logs": func(form string) { shadeForms[form](dst, f(16), f(15), table, add) },
	} {
		for form := range outerForms {
			t.Run(form+"/"+what, func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("did not panic")
					}
				}()
				call(form)
			})
		}
	}
}

func TestAddOuterIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		columns, rows := rapid.IntRange(0, 70).Draw(t, "columns"), rapid.IntRange(0, 9).Draw(t, "rows")
		padded := (columns + lanes - 1) / lanes * lanes
		stride := padded + rapid.IntRange(0, 9).Draw(t, "gap")
		size := max(rows-1, 0)*stride + padded
		column, row := falloffs(r, columns), falloffs(r, rows)
		gain, log := 1000*r.Float32(), 10*r.Float32()-2
		weights, logs := guarded(r, size), guarded(r, size)

		wantWeights, wantLogs := slices.Clone(weights), slices.Clone(logs)
		for j := range row {
			for i := range column {
				at := guard + j*stride + i
				a := float32(gain * row[j])
				b := float32(a * log)
				wantWeights[at] += float32(a * column[i])
				wantLogs[at] += float32(b * column[i])
			}
		}
		for name, addOuter := range outerForms {
			gotWeights, gotLogs := slices.Clone(weights), slices.Clone(logs)
			addOuter(gotWeights[guard:guard+size], gotLogs[guard:guard+size], stride, column, row, gain, log)
			sameBits(t, name+" weights", gotWeights, wantWeights)
			sameBits(t, name+" logs", gotLogs, wantLogs)
		}
	})
}

func TestAddRowsIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		n, rows := rapid.IntRange(0, 200).Draw(t, "n"), rapid.IntRange(0, 45).Draw(t, "rows")
		stride := rapid.IntRange(0, 210).Draw(t, "stride") // rows may overlap
		src, weights := counts(r, max(rows-1, 0)*stride+n), falloffs(r, rows)
		dst := guarded(r, n)

		want := slices.Clone(dst)
		for i := range n {
			for j, w := range weights {
				want[guard+i] += float32(w * src[j*stride+i])
			}
		}
		for name, addRows := range rowsForms {
			got := slices.Clone(dst)
			addRows(got[guard:guard+n], src, stride, weights)
			sameBits(t, name, got, want)
		}
	})
}

func TestShadeRowIsItsDefinition(t *testing.T) {
	table := new(shadeTable)
	rapid.Check(t, func(t *rapid.T) {
		r := random(t)
		n := rapid.IntRange(0, 70).Draw(t, "n")
		weights, logs := counts(r, n), counts(r, n)
		for _, s := range [][]float32{weights, logs} {
			spoil(r, s, rapid.IntRange(0, 2).Draw(t, "spoilt"))
		}
		add := [2]uint8{uint8(r.Uint32()), uint8(r.Uint32())}
		table.faint = rapid.SampledFrom([]float32{0, 1e-3, 0.5, 2}).Draw(t, "faint")
		table.valueScale = rapid.SampledFrom([]float32{1, valueCells / 4, valueCells}).Draw(t, "scale")
		for i := range table.cover {
			table.cover[i] = uint8(r.Uint32())
		}
		for i := range table.entries {
			table.entries[i] = uint8(r.Uint32())
		}

		dst := make([]uint8, n+2*guard)
		for i := range dst {
			dst[i] = uint8(r.Uint32())
		}
		want := slices.Clone(dst)
		for i := range n {
			want[guard+i] = shade(weights[i], logs[i], table, add[i%2])
		}
		for name, shadeRow := range shadeForms {
			got := slices.Clone(dst)
			shadeRow(got[guard:guard+n], weights, logs, table, add)
			if !bytes.Equal(got, want) {
				t.Fatalf("%s: shadeRow of %v, %v\ngave %v,\nwant %v", name, weights, logs, got, want)
			}
		}
	})
}

// shade is the definition of a pixel's shade.
func shade(weight, log float32, table *shadeTable, add uint8) uint8 {
	if !(weight > table.faint) {
		return 0
	}
	level := (table.cover[int(coverCells*min(weight, 1))] + add) >> 4
	if level == 0 {
		return 0
	}
	cell := 0
	if q := float32(log/weight) * table.valueScale; q >= valueCells {
		cell = valueCells - 1
	} else if q >= 1 {
		cell = int(q)
	}
	return table.entries[int(level)*valueCells+cell]
}

// guard is the number of elements before and after a slice that must not be written to.
const guard = 2 * lanes

// guarded returns n sums and the guards around them.
func guarded(r *rand.Rand, n int) []float32 { return counts(r, n+2*guard) }

func random(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
}

// falloffs returns n values of kernels: 0, or 1e-5 to 1.
func falloffs(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		if r.IntN(5) > 0 {
			s[i] = float32(math.Pow(10, -5*r.Float64()))
		}
	}
	return s
}

// counts returns n sums of kernels: 0 in places, or 1e-10 to 1e6, or exactly 1.
func counts(r *rand.Rand, n int) []float32 {
	s := make([]float32, n)
	empty := false
	for i := range s {
		if r.IntN(8) == 0 {
			empty = !empty
		}
		switch {
		case empty:
		case r.IntN(10) == 0:
			s[i] = 1
		default:
			s[i] = float32(math.Pow(10, 16*r.Float64()-10))
		}
	}
	return s
}

// spoil replaces some elements of s by what no sum should be.
func spoil(r *rand.Rand, s []float32, some int) {
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), -1, math.MaxFloat32, math.SmallestNonzeroFloat32}
	for range min(some, len(s)) {
		s[r.IntN(len(s))] = odd[r.IntN(len(odd))]
	}
}

func sameBits(t *rapid.T, name string, got, want []float32) {
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v (%#x), want %v (%#x)", name, i-guard,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
