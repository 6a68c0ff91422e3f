package render

import (
	"slices"
	"testing"
)

func TestAddOuter(t *testing.T) {
	weights, logs := make([]float32, 5+lanes), make([]float32, 5+lanes)
	weights[1], logs[5] = 10, 10
	addOuter(weights, logs, 5, []float32{1, 2, 3}, []float32{1, 10}, 2, 0.5)
	wantWeights := []float32{2, 14, 6, 0, 0, 20, 40, 60, 0, 0, 0, 0, 0}
	wantLogs := []float32{1, 2, 3, 0, 0, 20, 20, 30, 0, 0, 0, 0, 0}
	if !slices.Equal(weights, wantWeights) || !slices.Equal(logs, wantLogs) {
		t.Errorf("addOuter gave\n%v\n%v, want\n%v\n%v", weights, logs, wantWeights, wantLogs)
	}
}

func TestAddRows(t *testing.T) {
	dst := []float32{100, 200, 300}
	addRows(dst, []float32{1, 2, 3, -1, 4, 5, 6}, 4, []float32{1, 10})
	if want := []float32{141, 252, 363}; !slices.Equal(dst, want) {
		t.Errorf("addRows gave %v, want %v", dst, want)
	}
}

func TestShadeRow(t *testing.T) {
	table := &shadeTable{valueScale: valueCells / 2}
	table.cover[coverCells/2] = 20 // a level and a quarter
	table.cover[coverCells] = 32
	table.entries[valueCells] = 11
	table.entries[valueCells+valueCells/2] = 12
	table.entries[2*valueCells] = 20
	table.entries[3*valueCells-1] = 22
	for _, c := range []struct {
		name               string
		wide, narrow, logs float32
		add                uint8
		want               uint8
	}{
		{name: "nothing", want: 0},
		{name: "nothing, dithered", add: 15, want: 0},
		{name: "half, first value", wide: 0.5, want: 11},
		{name: "half, middle value", wide: 0.5, narrow: 1.5, logs: 2, want: 12},
		{name: "half, dithered up", wide: 0.5, add: 12, want: 20},
		{name: "full", wide: 1, want: 20},
		{name: "a crowd", wide: 1e6, narrow: 1e6, want: 20},
		{name: "past the last value", wide: 1, logs: 3, want: 22},
		{name: "before the first value", wide: 1, logs: -1, want: 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = lanes + 3
			dst := make([]uint8, n)
			fill := func(v float32) []float32 { return slices.Repeat([]float32{v}, n) }
			shadeRow(dst, fill(c.wide), fill(c.narrow), fill(c.logs), table, [2]uint8{c.add, c.add})
			if want := slices.Repeat([]uint8{c.want}, n); !slices.Equal(dst, want) {
				t.Errorf("shadeRow gave %v, want %v", dst, want)
			}
		})
	}
}
