package render

import (
	"fmt"

	"golang.org/x/sys/cpu"
)

// vectors reports whether the processor and the system support AVX2. GODEBUG=cpu.avx2=off turns it off.
var vectors = cpu.X86.HasAVX2

// addOuter is addOuterGo with vector instructions if available.
func addOuter(weights, logs []float32, stride int, column, row []float32, gain, log float32) {
	if !vectors {
		addOuterGo(weights, logs, stride, column, row, gain, log)
		return
	}
	if len(row) == 0 || len(column) == 0 {
		return
	}
	padded := (len(column) + lanes - 1) / lanes * lanes
	last := rowsEnd(stride, len(row), padded) - 1
	_, _ = weights[last], logs[last]
	addOuterAVX2(&weights[0], &logs[0], stride, &column[0], len(column), &row[0], len(row), gain, log)
}

// addRows is addRowsGo with vector instructions if available.
func addRows(dst, src []float32, stride int, weights []float32) {
	if !vectors {
		addRowsGo(dst, src, stride, weights)
		return
	}
	if len(dst) == 0 || len(weights) == 0 {
		return
	}
	_ = src[rowsEnd(stride, len(weights), len(dst))-1]
	addRowsAVX2(&dst[0], &src[0], len(dst), stride, &weights[0], len(weights))
}

// keepTop is keepTopGo with vector instructions if available.
func keepTop(weights, logs, mediumWeights, mediumLogs, highWeights, highLogs []float32) {
	whole := 0
	if vectors && len(weights) >= lanes {
		whole = len(weights) / lanes * lanes
		_, _, _, _, _ = logs[whole-1], mediumWeights[whole-1], mediumLogs[whole-1], highWeights[whole-1], highLogs[whole-1]
		keepTopAVX2(&weights[0], &logs[0], &mediumWeights[0], &mediumLogs[0], &highWeights[0], &highLogs[0], whole)
	}
	keepTopGo(weights[whole:], logs[whole:], mediumWeights[whole:], mediumLogs[whole:], highWeights[whole:], highLogs[whole:])
}

// shadeRow is shadeRowGo with vector instructions if available.
func shadeRow(dst []uint8, weights, logs []float32, t *shadeTable, add [2]uint8) {
	whole := 0
	if vectors && len(dst) >= lanes {
		whole = len(dst) / lanes * lanes
		_, _ = weights[whole-1], logs[whole-1]
		columns := uint64(add[0]) | uint64(add[1])<<32
		shadeRowAVX2(&dst[0], &weights[0], &logs[0], whole, &t.cover[0], &t.entries[0],
			max(t.faint, 0), t.valueScale, columns)
	}
	shadeRowGo(dst[whole:], weights[whole:], logs[whole:], t, add)
}

// rowsEnd returns the end of the last row. Assembly checks no bounds: rowsEnd panics if stride is negative, or so large that
// the product overflows.
func rowsEnd(stride, rows, width int) int {
	const most = 1 << 31
	if stride < 0 || stride > most || rows > most {
		panic(fmt.Sprintf("render: %d rows with a stride of %d; both must be 0 to %d", rows, stride, most))
	}
	return (rows-1)*stride + width
}
