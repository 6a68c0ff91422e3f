package zonal

import (
	"context"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

func BenchmarkNewMask(b *testing.B) {
	lakes := testLakes(b)
	for _, bench := range []struct {
		name string
		rule Rule
	}{{"full", Full}, {"centre", Centre}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() { // all 1,892 lakes
				for _, lake := range lakes {
					if _, err := NewMask([]Polygon{lake.Rings}, bench.rule); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// A roundLake is a lake of a roundLakes raster.
type roundLake struct{ x, y, radius float32 }

// roundLakes is a raster of round lakes that computes its values, since a global one has 52 GB of them.
type roundLakes struct {
	grid   Grid
	block  int
	lakes  []roundLake
	blocks map[image.Point][]int32 // the lakes that touch a block
	read   int                     // pixels of blocks
	passed int                     // pixels of windows
}

// newRoundLakes returns n lakes in one raster. Three in five lie in a tenth of it, as those of the world do. There are twice as many lakes
// of half the area.
func newRoundLakes(g Grid, n int) *roundLakes {
	rnd := rand.New(rand.NewPCG(uint64(n), 1))
	r := &roundLakes{grid: g, block: 512, lakes: make([]roundLake, n), blocks: map[image.Point][]int32{}}
	for i := range r.lakes {
		x, y := rnd.Float64(), 0.1+0.7*rnd.Float64()
		if i%5 < 3 {
			x, y = 0.1+0.5*x, 0.15+y/5
		}
		area := 1 / max(1e-6, 1-rnd.Float64()) // pixels of 300 m: at least 9 ha
		r.lakes[i] = roundLake{float32(x * float64(g.Width)), float32(y * float64(g.Height)), float32(math.Sqrt(area / math.Pi))}
		lake := r.lakes[i]
		for by := int(lake.y-lake.radius) / r.block; by <= int(lake.y+lake.radius)/r.block; by++ {
			for bx := int(lake.x-lake.radius) / r.block; bx <= int(lake.x+lake.radius)/r.block; bx++ {
				r.blocks[image.Pt(bx, by)] = append(r.blocks[image.Pt(bx, by)], int32(i))
			}
		}
	}
	return r
}

// points returns the shore of each lake, on a side.
func (r *roundLakes) points() []Point {
	points := make([]Point, len(r.lakes))
	for i, lake := range r.lakes {
		points[i] = Point{float64(lake.x) + float64(lake.radius), float64(lake.y)}
	}
	return points
}

func (r *roundLakes) Gather(_ context.Context, windows []image.Rectangle, each func(i int, part image.Rectangle, values []float64) error) error {
	type visit struct {
		at      image.Point
		windows []int32
	}
	index := map[image.Point]int{}
	var visits []visit
	for i, w := range windows {
		for by := w.Min.Y / r.block; by*r.block < w.Max.Y; by++ {
			for bx := w.Min.X / r.block; bx*r.block < w.Max.X; bx++ {
				k, ok := index[image.Pt(bx, by)]
				if !ok {
					k = len(visits)
					index[image.Pt(bx, by)] = k
					visits = append(visits, visit{at: image.Pt(bx, by)})
				}
				visits[k].windows = append(visits[k].windows, int32(i))
			}
		}
	}
	values := make([]float64, r.block*r.block)
	var passed []float64
	for _, v := range visits {
		block := image.Rectangle{v.at, v.at.Add(image.Pt(1, 1))}
		block.Min, block.Max = block.Min.Mul(r.block), block.Max.Mul(r.block)
		for i := range values {
			values[i] = math.NaN()
		}
		r.read += len(values)
		for _, i := range r.blocks[v.at] {
			lake := r.lakes[i]
			for y := max(block.Min.Y, int(lake.y-lake.radius)); y < min(block.Max.Y, int(lake.y+lake.radius)+1); y++ {
				dy := float32(y) + 0.5 - lake.y
				half := lake.radius*lake.radius - dy*dy
				if half < 0 {
					continue
				}
				half = float32(math.Sqrt(float64(half)))
				for x := max(block.Min.X, int(lake.x-half+0.5)); x < min(block.Max.X, int(lake.x+half+0.5)); x++ {
					values[(y-block.Min.Y)*r.block+x-block.Min.X] = float64(i)
				}
			}
		}
		for _, i := range v.windows {
			part := windows[i].Intersect(block)
			passed = passed[:0]
			for y := part.Min.Y; y < part.Max.Y; y++ {
				row := values[(y-block.Min.Y)*r.block:]
				passed = append(passed, row[part.Min.X-block.Min.X:part.Max.X-block.Min.X]...)
			}
			r.passed += len(passed)
			if err := each(int(i), part, passed); err != nil {
				return err
			}
		}
	}
	return nil
}

// BenchmarkGrow grows water around points as dense as those of 1.4 million lakes in the grid of LWQ.
func BenchmarkGrow(b *testing.B) {
	lakes := newRoundLakes(Grid{Width: 161_280 / 8, Height: 80_640 / 8, Period: 161_280 / 8}, 1_400_000/64)
	points := lakes.points()
	b.ReportAllocs()
	for b.Loop() {
		var reasons [4]int
		if err := Grow(context.Background(), lakes.grid, points, Growth{RadiusX: 3, RadiusY: 2, Edge: 1, Block: image.Pt(512, 512)}, lakes,
			func(_ int, grown Grown) error { reasons[grown.Reason]++; return nil }); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(reasons[Found])/float64(len(points)), "found/point")
	}
	b.ReportMetric(float64(lakes.read)/float64(b.N), "read/op")
	b.ReportMetric(float64(lakes.passed)/float64(b.N), "passed/op")
}
