package render

// The renderer's inner loops. Each is here in plain Go, which says what is meant and runs on every processor;
// rows_amd64.go does the same with the wider instructions of newer ones. Both give the same bytes: every product is
// rounded to float32 before it is added (the conversions forbid the compiler to fuse the two), and each element is added
// to in one order.

//go:generate go run -C asm -tags generate . -out ../rows_amd64.s -stubs ../rows_stubs_amd64.go -pkg render

const (
	// lanes is how many elements one vector instruction works on. Rows that addOuterGo writes are padded to it.
	lanes = 8
	// coverCells is how many cells of a shadeTable tell the opacities from none to that of weight 1.
	coverCells = 1 << 13
	// valueCells is how many cells of a shadeTable tell the values of one opacity.
	valueCells = 1 << 11
	// shadeLevels is how many opacities a shadeTable has room for, none among them: as many as the upper four bits of
	// a byte tell, so that no cover leads out of the table.
	shadeLevels = 16
	// levelMask is where a byte of cover tells whole levels.
	levelMask = 0xf0
)

// A shadeTable tells the palette entry of a pixel by its opacity and its value.
type shadeTable struct {
	// faint is the largest weight that is transparent whatever cover says. Zero is always right; the larger it is,
	// the more pixels are passed over without a look at cover.
	faint float32
	// valueScale is how many cells of entries a unit of value is wide.
	valueScale float32
	// cover tells the opacity, in sixteenths of a level, by weight.
	cover [coverCells + 1]uint8
	// entries tells the palette's entry: valueCells of them for each level of opacity, none among them.
	entries [shadeLevels * valueCells]uint8
}

// addOuterGo adds gain times the outer product of row and column to weights, and log times that to logs. Both have
// len(row) rows that begin stride elements apart, and are as long as rows padded to a multiple of lanes: a loop may
// write the padding.
func addOuterGo(weights, logs []float32, stride int, column, row []float32, gain, log float32) {
	for j, r := range row {
		a := gain * r
		b := a * log
		w := weights[j*stride:][:len(column)]
		l := logs[j*stride:][:len(column)]
		for i, c := range column {
			w[i] += float32(a * c)
			l[i] += float32(b * c)
		}
	}
}

// addRowsGo adds the rows of src, which begin stride elements apart, each times its weight, to dst, the first one first.
func addRowsGo(dst, src []float32, stride int, weights []float32) {
	j := 0
	for ; j+4 <= len(weights); j += 4 {
		// Four rows for each time that dst is loaded and stored.
		w0, w1, w2, w3 := weights[j], weights[j+1], weights[j+2], weights[j+3]
		s0 := src[j*stride:][:len(dst)]
		s1 := src[(j+1)*stride:][:len(dst)]
		s2 := src[(j+2)*stride:][:len(dst)]
		s3 := src[(j+3)*stride:][:len(dst)]
		for i, d := range dst {
			d += float32(w0 * s0[i])
			d += float32(w1 * s1[i])
			d += float32(w2 * s2[i])
			d += float32(w3 * s3[i])
			dst[i] = d
		}
	}
	for ; j < len(weights); j++ {
		w := weights[j]
		for i, s := range src[j*stride:][:len(dst)] {
			dst[i] += float32(w * s)
		}
	}
}

// shadeRowGo writes the palette entries of a row of pixels to dst. A pixel's value is its logs over the sum of its wide
// and narrow weight; its opacity goes by the wide one alone, and add is what is added to that at even and at odd
// columns, in sixteenths of a level. A weight that is not a number is transparent; a value that is none is the first.
func shadeRowGo(dst []uint8, wide, narrow, logs []float32, t *shadeTable, add [2]uint8) {
	wide, narrow, logs = wide[:len(dst)], narrow[:len(dst)], logs[:len(dst)]
	faint, valueScale := t.faint, t.valueScale
	for i := 0; i < len(dst); i++ {
		if i%lanes == 0 {
			for i+lanes <= len(dst) && allFaint((*[lanes]float32)(wide[i:]), faint) {
				clear(dst[i : i+lanes])
				i += lanes
			}
			if i >= len(dst) {
				return
			}
		}
		g := wide[i]
		if !(g > faint) {
			dst[i] = 0
			continue
		}
		part := g // not min(g, 1), which also thinks of what is not a number and costs a tenth of the loop
		if part > 1 {
			part = 1
		}
		level := uint32(t.cover[uint32(int32(part*coverCells))]+add[i&1]) & levelMask
		if level == 0 {
			dst[i] = 0
			continue
		}
		cell := uint32(0)
		if q := logs[i] / (g + narrow[i]) * valueScale; q >= valueCells-1 {
			cell = valueCells - 1
		} else if q > 0 {
			cell = uint32(int32(q))
		}
		dst[i] = t.entries[(level*(valueCells/16)|cell)&(shadeLevels*valueCells-1)]
	}
}

// allFaint reports whether no element of s is more than faint.
func allFaint(s *[lanes]float32, faint float32) bool {
	return !(s[0] > faint || s[1] > faint || s[2] > faint || s[3] > faint ||
		s[4] > faint || s[5] > faint || s[6] > faint || s[7] > faint)
}
