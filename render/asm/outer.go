//go:build generate

package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func addOuter(lane operand.Mem) {
	begin("addOuterAVX2",
		"func(weights, logs *float32, stride int, column *float32, columns int, row *float32, rows int, gain, log float32)",
		"addOuterAVX2 is addOuterGo for at least one row. To the padding it adds zero.")
	weights, logs, stride := load("weights"), load("logs"), load("stride")
	column, whole := load("column"), load("columns")
	row, rows := load("row"), load("rows")
	gain, log := spread("gain"), spread("log")

	left, rest := split(whole, lane)
	build.ADDQ(whole, weights)
	build.ADDQ(whole, logs)
	build.ADDQ(whole, column)
	build.NEGQ(whole)
	build.SHLQ(operand.I8(2), stride)
	build.VMASKMOVPS(operand.Mem{Base: column}, rest, rest)

	build.Label("nextRow")
	a, b, at := build.YMM(), build.YMM(), build.GP64()
	build.VBROADCASTSS(operand.Mem{Base: row}, a)
	build.VMULPS(a, gain, a)
	build.VMULPS(a, log, b)
	build.MOVQ(whole, at)
	build.TESTQ(at, at)
	build.JZ(operand.LabelRef("rowRest"))

	build.Label("nextVector")
	c := build.YMM()
	build.VMOVUPS(operand.Mem{Base: column, Index: at, Scale: 1}, c)
	addProduct(a, c, operand.Mem{Base: weights, Index: at, Scale: 1})
	addProduct(b, c, operand.Mem{Base: logs, Index: at, Scale: 1})
	build.ADDQ(operand.I8(vector), at)
	build.JNZ(operand.LabelRef("nextVector"))

	build.Label("rowRest")
	build.TESTQ(left, left)
	build.JZ(operand.LabelRef("rowDone"))
	addProduct(a, rest, operand.Mem{Base: weights})
	addProduct(b, rest, operand.Mem{Base: logs})

	build.Label("rowDone")
	build.ADDQ(operand.I8(floatBytes), row)
	build.ADDQ(stride, weights)
	build.ADDQ(stride, logs)
	build.DECQ(rows)
	build.JNZ(operand.LabelRef("nextRow"))
	end()
}

// addProduct adds the product of two vectors to a third.
func addProduct(a, b reg.VecVirtual, sum operand.Mem) {
	product := build.YMM()
	build.VMULPS(a, b, product)
	build.VADDPS(sum, product, product)
	build.VMOVUPS(product, sum)
}
