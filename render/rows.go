package render

// The inner loops of the renderer in plain Go; rows_amd64.go has the same with vector instructions. Both give the same
// bytes: every product is rounded to float32 before it is added (the conversions prevent the compiler from fusing the two),
// and the sums of an element are added in the same order.

//go:generate go run -C asm -tags generate . -out ../rows_amd64.s -stubs ../rows_stubs_amd64.go -pkg render

const (
	// lanes is the number of elements of a vector. Rows that addOuterGo writes are padded to a multiple of it.
	lanes = 8
	// coverCells is the number of cells of shadeTable.cover between the weights 0 and 1.
	coverCells = 1 << 13
	// valueCells is the number of cells of shadeTable.entries for one opacity.
	valueCells = 1 << 11
	// shadeLevels is the number of opacities of a shadeTable, with none: all values of the upper four bits of a byte, so that
	// no cover leads outside of the table.
	shadeLevels = 16
	// solid is the largest weight that counts where there are upper classes: at it the opacity has reached its maximum, so that it falls
	// between two classes in crowds too.
	solid = 0.75
	// valley is the part of the weight that is left where two classes weigh the same: as much as is just visible.
	valley = 0.04
	// levelMask selects the level of a byte of cover.
	levelMask = 0xf0
)

// A shadeTable has the palette entries by opacity and value.
type shadeTable struct {
	// faint is a weight up to which all pixels are transparent. Zero is always correct; the larger it is, the more pixels
	// are skipped without reading cover.
	faint float32
	// valueScale is the number of cells of entries per unit of value.
	valueScale float32
	// cover is the opacity by weight, in sixteenths of a level.
	cover [coverCells + 1]uint8
	// entries are the palette entries: valueCells of them for each level of opacity.
	entries [shadeLevels * valueCells]uint8
}

// addOuterGo adds gain times the outer product of row and column to weights, and log times that to logs. Both have
// len(row) rows that begin stride elements apart. Rows are padded to a multiple of lanes; implementations may write the
// padding.
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

// addRowsGo adds the rows of src, which begin stride elements apart, each times its weight, to dst in order.
func addRowsGo(dst, src []float32, stride int, weights []float32) {
	j := 0
	for ; j+4 <= len(weights); j += 4 {
		// Four rows each time that dst is loaded and stored.
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

// keepNearestGo leaves of the sums of all lakes those of the class that weighs most; of equal ones, the worst. The weights of medium and high
// lakes are of both kernels; what is left is low lakes. The less that class outweighs the second one, the smaller wide becomes, so that the
// field is nearly transparent where two are equal. It changes narrow too, so that wide plus narrow is the weight of the class. Where only low
// lakes weigh, it changes nothing.
func keepNearestGo(wide, narrow, logs, mediumWeights, mediumLogs, highWeights, highLogs []float32) {
	narrow, logs = narrow[:len(wide)], logs[:len(wide)]
	mediumWeights, mediumLogs = mediumWeights[:len(wide)], mediumLogs[:len(wide)]
	highWeights, highLogs = highWeights[:len(wide)], highLogs[:len(wide)]
	for i, g := range wide {
		medium, high := mediumWeights[i], highWeights[i]
		if medium == 0 && high == 0 {
			continue
		}
		low := g + narrow[i]
		low -= medium
		low -= high
		upper, lower := max(high, medium), min(high, medium)
		first, second := max(low, upper), max(min(low, upper), lower)
		log := logs[i]
		log -= mediumLogs[i]
		log -= highLogs[i]
		if medium >= first {
			log = mediumLogs[i]
		}
		if high >= first {
			log = highLogs[i]
		}
		part := (first - second) / (first + second)
		g = min(g, solid) * max(float32(float32(part*part)*part), valley)
		wide[i], narrow[i], logs[i] = g, first-g, log
	}
}

// shadeRowGo writes the palette entries of a row of pixels to dst. The value of a pixel is its logs divided by the sum of
// its wide and narrow weight; its opacity depends only on the wide one. add is added to the opacity at even and at odd
// columns, in sixteenths of a level. A NaN weight is transparent, and a NaN value is the first one.
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
		part := g // not min(g, 1), which also handles NaN and takes a tenth of the loop
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
