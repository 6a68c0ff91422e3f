//go:build generate

package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// As in rows.go.
const (
	solid  = 0.75
	valley = 0.04
)

func keepNearest() {
	begin("keepNearestAVX2",
		"func(wide, narrow, logs, mediumWeights, mediumLogs, highWeights, highLogs *float32, n int)",
		"keepNearestAVX2 is keepNearestGo for n pixels, a multiple of eight but not zero.")
	wide, narrow, logs := load("wide"), load("narrow"), load("logs")
	mediumWeights, mediumLogs := load("mediumWeights"), load("mediumLogs")
	highWeights, highLogs, n := load("highWeights"), load("highLogs"), load("n")
	at, zero := build.GP64(), build.YMM()
	build.XORQ(at, at)
	build.VXORPS(zero, zero, zero)
	least, most := constant("valley", math.Float32bits(valley)), constant("solid", math.Float32bits(solid))
	element := func(base reg.Register) operand.Mem { return operand.Mem{Base: base, Index: at, Scale: floatBytes} }

	build.Label("next")
	medium, high, some, mask := build.YMM(), build.YMM(), build.YMM(), build.GP32()
	build.VMOVUPS(element(mediumWeights), medium)
	build.VMOVUPS(element(highWeights), high)
	build.VORPS(medium, high, some)
	build.VCMPPS(operand.Imm(notEqual), zero, some, some)
	build.VMOVMSKPS(some, mask)
	build.TESTL(mask, mask)
	build.JZ(operand.LabelRef("done"))

	g, rest, low := build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPS(element(wide), g)
	build.VMOVUPS(element(narrow), rest)
	build.VADDPS(rest, g, low)
	build.VSUBPS(medium, low, low)
	build.VSUBPS(high, low, low)
	upper, first, second := build.YMM(), build.YMM(), build.YMM()
	build.VMAXPS(medium, high, upper)
	build.VMAXPS(low, upper, first)
	build.VMINPS(low, upper, second)
	build.VMINPS(medium, high, upper)
	build.VMAXPS(second, upper, second)

	// The logarithms of the class that weighs most.
	log, other, heavier := build.YMM(), build.YMM(), build.YMM()
	mediumLog, highLog := build.YMM(), build.YMM()
	build.VMOVUPS(element(mediumLogs), mediumLog)
	build.VMOVUPS(element(highLogs), highLog)
	build.VMOVUPS(element(logs), other)
	build.VSUBPS(mediumLog, other, log)
	build.VSUBPS(highLog, log, log)
	build.VCMPPS(operand.Imm(atLeast), first, medium, heavier)
	build.VBLENDVPS(heavier, mediumLog, log, log)
	build.VCMPPS(operand.Imm(atLeast), first, high, heavier)
	build.VBLENDVPS(heavier, highLog, log, log)
	build.VBLENDVPS(some, log, other, log)
	build.VMOVUPS(log, element(logs))

	part, cube, sum := build.YMM(), build.YMM(), build.YMM()
	build.VSUBPS(second, first, part)
	build.VADDPS(second, first, sum)
	build.VDIVPS(sum, part, part)
	build.VMULPS(part, part, cube)
	build.VMULPS(part, cube, part)
	build.VMAXPS(least, part, part)
	build.VMINPS(most, g, sum)
	build.VMULPS(part, sum, sum)
	build.VBLENDVPS(some, sum, g, g)
	build.VMOVUPS(g, element(wide))
	build.VSUBPS(sum, first, first)
	build.VBLENDVPS(some, first, rest, rest)
	build.VMOVUPS(rest, element(narrow))

	build.Label("done")
	build.ADDQ(operand.I8(lanes), at)
	build.CMPQ(at, n)
	build.JL(operand.LabelRef("next"))
	end()
}
