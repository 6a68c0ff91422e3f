package render

const (
	lanes      = 8
	coverCells = 8192
)

func addOuter(weights, logs []float32, stride int, column, row []float32, gain, log float32) {
	for j, r := range row {
		a := float32(gain * r)
		b := float32(a * log)
		w := weights[j*stride:][:len(column)]
		l := logs[j*stride:][:len(column)]
		for i, c := range column {
			w[i] += float32(a * c)
			l[i] += float32(b * c)
		}
	}
}

func addRows(dst, src []float32, stride int, weights []float32) {
	for j, w := range weights {
		s := src[j*stride:][:len(dst)]
		for i, v := range s {
			dst[i] += float32(w * v)
		}
	}
}

type shadeTable struct {
	cover      [coverCells + 1 + 3]uint8
	entries    [(levels+1)*valueCells + 3]uint8
	valueScale float32
}

func shadeRow(dst []uint8, wide, narrow, logs []float32, t *shadeTable, add [2]uint8) {
	for i, g := range wide {
		level := (t.cover[int32(min(g, 1)*coverCells)] + add[i&1]) / parts
		if level == 0 {
			dst[i] = 0
			continue
		}
		q := logs[i] / (g + narrow[i])
		k := int32(min(max(q*t.valueScale, 0), valueCells-1))
		dst[i] = t.entries[int(level)*valueCells+int(k)]
	}
}
