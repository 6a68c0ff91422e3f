//go:build !amd64

package render

func addOuter(weights, logs []float32, stride int, column, row []float32, gain, log float32) {
	addOuterGo(weights, logs, stride, column, row, gain, log)
}

func addRows(dst, src []float32, stride int, weights []float32) { addRowsGo(dst, src, stride, weights) }

func keepTop(weights, logs, mediumWeights, mediumLogs, highWeights, highLogs []float32) {
	keepTopGo(weights, logs, mediumWeights, mediumLogs, highWeights, highLogs)
}

func shadeRow(dst []uint8, weights, logs []float32, t *shadeTable, add [2]uint8) {
	shadeRowGo(dst, weights, logs, t, add)
}
