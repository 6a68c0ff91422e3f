//go:build generate

package main

import (
	"math"
	"strconv"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// As in rows.go.
const (
	mediumRim, highRim             = 0.14, 0.25
	solid                          = 0.75
	mediumShare, mediumLoss, crowd = 0.85, 0.55, 6
	highShare                      = 0.03
	onset, steepness, leastLeft    = 0.9, 5, 0.28
	leastTied                      = 0.3
	tiny                           = 1e-30
)

func keepTop() {
	begin("keepTopAVX2",
		"func(weights, logs, mediumWeights, mediumLogs, highWeights, highLogs *float32, n int)",
		"keepTopAVX2 is keepTopGo for n pixels, a multiple of eight but not zero.")
	weights, logs := load("weights"), load("logs")
	mediumWeights, mediumLogs := load("mediumWeights"), load("mediumLogs")
	highWeights, highLogs, n := load("highWeights"), load("highLogs"), load("n")
	at := build.GP64()
	build.XORQ(at, at)
	element := func(base reg.Register) operand.Mem { return operand.Mem{Base: base, Index: at, Scale: floatBytes} }
	zero := build.YMM()
	build.VXORPS(zero, zero, zero)

	build.Label("next")
	medium, high, some, mask := build.YMM(), build.YMM(), build.YMM(), build.GP32()
	build.VMOVUPS(element(mediumWeights), medium)
	build.VMOVUPS(element(highWeights), high)
	build.VORPS(medium, high, some)
	build.VCMPPS(operand.Imm(notEqual), zero, some, some)
	build.VMOVMSKPS(some, mask)
	build.TESTL(mask, mask)
	build.JZ(operand.LabelRef("done"))

	all, low, h, m := build.YMM(), build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPS(element(weights), all)
	build.VSUBPS(high, all, h)
	build.VSUBPS(medium, h, low)
	build.VMAXPS(zero, low, low)
	loss := build.YMM()
	build.VMULPS(float(mediumShare), low, m)
	build.VMINPS(float(mediumLoss), m, m)
	build.VSUBPS(float(crowd-mediumLoss), low, loss)
	build.VMAXPS(loss, m, m)
	build.VSUBPS(m, medium, m)
	build.VMAXPS(zero, m, m)
	build.VMULPS(float(highShare), h, h)
	build.VSUBPS(h, high, h)
	build.VMAXPS(zero, h, h)
	// below makes part what is seen of better classes.
	below := func(class, part reg.VecVirtual, rim float32) {
		one := float(1)
		build.VMULPS(float(1/rim), class, part)
		build.VSUBPS(part, one, part)
		build.VMAXPS(zero, part, part)
		build.VMULPS(part, part, part)
	}
	belowMedium, belowHigh, most := build.YMM(), build.YMM(), float(solid)
	below(m, belowMedium, mediumRim)
	below(h, belowHigh, highRim)
	beside, left, one := build.YMM(), build.YMM(), float(1)
	build.VMINPS(float(mediumLoss), medium, beside)
	build.VMULPS(float(steepness), beside, beside)
	build.VMAXPS(float(tiny), low, left)
	build.VDIVPS(left, beside, beside)
	build.VSUBPS(beside, one, beside)
	build.VMAXPS(float(leastLeft), beside, beside)
	build.VMULPS(beside, belowMedium, belowMedium)
	build.VMAXPS(float(tiny), medium, left)
	build.VDIVPS(left, m, left)
	build.VMAXPS(float(onset), left, left)
	build.VMULPS(left, left, left)
	build.VMINPS(most, m, m)
	build.VMULPS(left, m, m)
	build.VMULPS(belowHigh, m, m)
	weight := build.YMM()
	build.VMINPS(most, low, weight)
	build.VMULPS(belowMedium, weight, weight)
	build.VMULPS(belowHigh, weight, weight)

	old, log, mediumLog, highLog, heavier := build.YMM(), build.YMM(), build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPS(element(logs), old)
	build.VMOVUPS(element(mediumLogs), mediumLog)
	build.VMOVUPS(element(highLogs), highLog)
	build.VSUBPS(mediumLog, old, log)
	build.VSUBPS(highLog, log, log)
	build.VCMPPS(operand.Imm(atLeast), weight, m, heavier)
	build.VBLENDVPS(heavier, m, weight, weight)
	build.VBLENDVPS(heavier, medium, low, low)
	build.VBLENDVPS(heavier, mediumLog, log, log)
	tied := build.YMM()
	build.VMINPS(h, weight, tied)
	build.VCMPPS(operand.Imm(atLeast), weight, h, heavier)
	build.VBLENDVPS(heavier, h, weight, weight)
	build.VBLENDVPS(heavier, high, low, low)
	build.VBLENDVPS(heavier, highLog, log, log)
	build.VMAXPS(float(tiny), weight, left)
	build.VDIVPS(left, tied, tied)
	build.VSUBPS(tied, one, tied)
	build.VMAXPS(float(leastTied), tied, tied)
	build.VMULPS(tied, weight, weight)
	build.VMAXPS(float(tiny), low, low)
	build.VDIVPS(low, weight, low)
	build.VMULPS(low, log, log)
	build.VBLENDVPS(some, weight, all, weight)
	build.VMOVUPS(weight, element(weights))
	build.VBLENDVPS(some, log, old, log)
	build.VMOVUPS(log, element(logs))

	build.Label("done")
	build.ADDQ(operand.I8(lanes), at)
	build.CMPQ(at, n)
	build.JL(operand.LabelRef("next"))
	end()
}

// floats are the constants that float has declared.
var floats = map[float32]operand.Mem{}

// float returns v in all lanes of a vector.
func float(v float32) reg.VecVirtual {
	m, ok := floats[v]
	if !ok {
		m = build.ConstData("float"+strconv.Itoa(len(floats)), operand.U32(math.Float32bits(v)))
		floats[v] = m
	}
	y := build.YMM()
	build.VBROADCASTSS(m, y)
	return y
}
