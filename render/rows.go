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
	// mediumRim and highRim are the weights of classes from which on nothing of better classes is seen below them: a disc that is alone has them at
	// 2.0 and 1.7 sigma.
	mediumRim, highRim = 0.14, 0.25
	// solid is the largest weight of a class that counts where another one fades it: at it the opacity has reached its maximum.
	solid = 0.75
	// A medium lake loses mediumShare of what low lakes weigh, so that of two beside each other both keep their own pixel, but up to a weight of crowd
	// at most mediumLoss: it is seen among several low ones in one place. In a larger crowd, where medium lakes would cover everything, it loses all
	// that low lakes weigh more. A high lake loses highShare of what others weigh.
	mediumShare, mediumLoss, crowd = 0.85, 0.55, 6
	highShare                      = 0.03
	// A medium lake of which less than onset is left is as faint as if onset were left. A low lake fades by steepness times the part that a medium one
	// beside it weighs, down to leastLeft. So there is a soft valley between them.
	onset, steepness, leastLeft = 0.9, 5, 0.28
	// Beside a high lake, or of a high lake beside another one, the part that the other one weighs is lost, down to leastTied: there is a valley, too.
	leastTied = 0.3
	// tiny is more than zero.
	tiny = 1e-30
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

// keepTopGo leaves of the sums of all lakes those of the class on top, which is the worst one that is seen. A worse class is not changed by
// better ones, except in a crowd of them and where a high one and another weigh about the same; a better one fades to nothing where a worse one reaches rim. What is left of all lakes without those of
// the upper classes is low lakes. Where only these weigh, it changes nothing.
func keepTopGo(weights, logs, mediumWeights, mediumLogs, highWeights, highLogs []float32) {
	logs = logs[:len(weights)]
	mediumWeights, mediumLogs = mediumWeights[:len(weights)], mediumLogs[:len(weights)]
	highWeights, highLogs = highWeights[:len(weights)], highLogs[:len(weights)]
	for i, all := range weights {
		medium, high := mediumWeights[i], highWeights[i]
		if medium == 0 && high == 0 {
			continue
		}
		better := all - high
		low := max(better-medium, 0)
		m := max(medium-max(min(float32(low*mediumShare), mediumLoss), low-(crowd-mediumLoss)), 0)
		h := max(high-float32(better*highShare), 0)
		belowMedium, belowHigh := max(1-float32(m*(1/mediumRim)), 0), max(1-float32(h*(1/highRim)), 0)
		belowMedium, belowHigh = float32(belowMedium*belowMedium), float32(belowHigh*belowHigh)
		belowMedium = float32(belowMedium * max(1-float32(steepness*min(medium, mediumLoss))/max(low, tiny), leastLeft))
		left := max(m/max(medium, tiny), onset)
		m = float32(float32(min(m, solid)*float32(left*left)) * belowHigh)

		weight, of, log := float32(float32(min(low, solid)*belowMedium)*belowHigh), low, logs[i]-mediumLogs[i]
		log -= highLogs[i]
		if m >= weight {
			weight, of, log = m, medium, mediumLogs[i]
		}
		second := min(weight, h)
		if h >= weight {
			weight, of, log = h, high, highLogs[i]
		}
		weight = float32(weight * untied(weight, second))
		weights[i], logs[i] = weight, float32(log*float32(weight/max(of, tiny)))
	}
}

// untied returns the part of the weight of the class on top that is left beside the weight of another one.
func untied(top, second float32) float32 {
	return max(1-float32(second/max(top, tiny)), leastTied)
}

// shadeRowGo writes the palette entries of a row of pixels to dst. The value of a pixel is its logs divided by its weight, on which its opacity
// depends. add is added to the opacity at even and at odd columns, in sixteenths of a level. A NaN weight is transparent, and a NaN value is the
// first one.
func shadeRowGo(dst []uint8, weights, logs []float32, t *shadeTable, add [2]uint8) {
	weights, logs = weights[:len(dst)], logs[:len(dst)]
	faint, valueScale := t.faint, t.valueScale
	for i := 0; i < len(dst); i++ {
		if i%lanes == 0 {
			for i+lanes <= len(dst) && allFaint((*[lanes]float32)(weights[i:]), faint) {
				clear(dst[i : i+lanes])
				i += lanes
			}
			if i >= len(dst) {
				return
			}
		}
		g := weights[i]
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
		if q := logs[i] / g * valueScale; q >= valueCells-1 {
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
