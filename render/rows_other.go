//go:build !amd64

package render

func addOuter(weights, logs []float32, stride int, column, row []float32, gain, log float32) {
	addOuterGo(weights, logs, stride, column, row, gain, log)
}

func addRows(dst, src []float32, stride int, weights []float32) { addRowsGo(dst, src, stride, weights) }

func keepNearest(wide, narrow, logs, mediumWeights, mediumLogs, highWeights, highLogs []float32) {
	keepNearestGo(wide, narrow, logs, mediumWeights, mediumLogs, highWeights, highLogs)
}

func shadeRow(dst []uint8, wide, narrow, logs []float32, t *shadeTable, add [2]uint8) {
	shadeRowGo(dst, wide, narrow, logs, t, add)
}
