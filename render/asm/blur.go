//go:build generate

package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockVectors is how many vectors of sums addRows keeps in registers, so that the additions, each of which waits for the
// one before, do not wait for each other.
const blockVectors = 8

func addRows(lane operand.Mem) {
	begin("addRowsAVX2",
		"func(dst, src *float32, n, stride int, weights *float32, rows int)",
		"addRowsAVX2 is addRowsGo for at least one row.")
	dst, src, stride := load("dst"), load("src"), load("stride")
	whole, weights, rows := load("n"), load("weights"), load("rows")
	left, mask := split(whole, lane)
	build.SHLQ(operand.I8(2), stride)

	block := build.GP64()
	build.MOVQ(whole, block)
	build.Label("nextBlock")
	build.SUBQ(operand.U32(blockVectors*vector), block)
	build.JL(operand.LabelRef("blocksDone"))
	sumRows("nextBlockRow", dst, src, stride, weights, rows, blockVectors)
	build.ADDQ(operand.U32(blockVectors*vector), dst)
	build.ADDQ(operand.U32(blockVectors*vector), src)
	build.JMP(operand.LabelRef("nextBlock"))

	build.Label("blocksDone")
	build.ADDQ(operand.U32(blockVectors*vector), block)
	build.JZ(operand.LabelRef("vectorsDone"))
	build.Label("nextVector")
	sumRows("nextVectorRow", dst, src, stride, weights, rows, 1)
	build.ADDQ(operand.I8(vector), dst)
	build.ADDQ(operand.I8(vector), src)
	build.SUBQ(operand.I8(vector), block)
	build.JNZ(operand.LabelRef("nextVector"))

	build.Label("vectorsDone")
	build.TESTQ(left, left)
	build.JZ(operand.LabelRef("done"))
	sum := build.YMM()
	build.VMASKMOVPS(operand.Mem{Base: dst}, mask, sum)
	eachRow("nextRestRow", src, stride, weights, rows, func(src operand.Mem, w reg.VecVirtual) {
		product := build.YMM()
		build.VMASKMOVPS(src, mask, product)
		build.VMULPS(product, w, product)
		build.VADDPS(product, sum, sum)
	})
	build.VMASKMOVPS(sum, mask, operand.Mem{Base: dst})

	build.Label("done")
	end()
}

// sumRows adds the rows of some vectors at src to those at dst.
func sumRows(label string, dst, src, stride, weights, rows reg.Register, vectors int) {
	sums := make([]reg.VecVirtual, vectors)
	for i := range sums {
		sums[i] = build.YMM()
		build.VMOVUPS(operand.Mem{Base: dst, Disp: i * vector}, sums[i])
	}
	eachRow(label, src, stride, weights, rows, func(src operand.Mem, w reg.VecVirtual) {
		for i, sum := range sums {
			product := build.YMM()
			build.VMULPS(src.Offset(i*vector), w, product)
			build.VADDPS(product, sum, sum)
		}
	})
	for i, sum := range sums {
		build.VMOVUPS(sum, operand.Mem{Base: dst, Disp: i * vector})
	}
}

// eachRow writes the loop over rows: do is given where a row begins and its weight.
func eachRow(label string, src, stride, weights, rows reg.Register, do func(src operand.Mem, w reg.VecVirtual)) {
	at, i, w := build.GP64(), build.GP64(), build.YMM()
	build.MOVQ(src, at)
	build.XORQ(i, i)
	build.Label(label)
	build.VBROADCASTSS(operand.Mem{Base: weights, Index: i, Scale: floatBytes}, w)
	do(operand.Mem{Base: at}, w)
	build.ADDQ(stride, at)
	build.INCQ(i)
	build.CMPQ(i, rows)
	build.JL(operand.LabelRef(label))
}
