//go:build generate

package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// As in rows.go.
const (
	tieShift = 16
	tieSteps = 24 << (23 - tieShift)
	tieFirst = (127 - 14) << (23 - tieShift)
)

func keepNearest() {
	begin("keepNearestAVX2",
		"func(wide, narrow, logs, mediumWeights, mediumLogs, highWeights, highLogs *float32, n int, ties *float32)",
		"keepNearestAVX2 is keepNearestGo for n pixels, a multiple of eight but not zero.")
	wide, narrow, logs := load("wide"), load("narrow"), load("logs")
	mediumWeights, mediumLogs := load("mediumWeights"), load("mediumLogs")
	highWeights, highLogs, n, ties := load("highWeights"), load("highLogs"), load("n"), load("ties")
	at, zero := build.GP64(), build.YMM()
	build.XORQ(at, at)
	build.VXORPS(zero, zero, zero)
	first, last := constant("tieFirst", tieFirst), constant("tieLast", tieSteps-1)
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

	// What is left if the low lakes are nearest.
	g, rest, least := build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPS(element(wide), g)
	build.VMOVUPS(element(narrow), rest)
	build.VADDPS(rest, g, least)
	build.VSUBPS(medium, least, least)
	build.VSUBPS(high, least, least)
	build.VSUBPS(medium, rest, rest)
	build.VSUBPS(high, rest, rest)
	log, mediumLog, highLog := build.YMM(), build.YMM(), build.YMM()
	build.VMOVUPS(element(mediumLogs), mediumLog)
	build.VMOVUPS(element(highLogs), highLog)
	build.VMOVUPS(element(logs), log)
	build.VSUBPS(mediumLog, log, log)
	build.VSUBPS(highLog, log, log)

	build.VMAXPS(least, medium, least)
	build.VMAXPS(least, high, least)
	build.TESTQ(ties, ties)
	build.JZ(operand.LabelRef("compare"))
	step := build.YMM()
	build.VPSRLD(operand.Imm(tieShift), least, step)
	build.VPSUBD(first, step, step)
	build.VPMAXSD(zero, step, step)
	build.VPMINSD(last, step, step)
	build.VMULPS(parts(ties, step), least, least)

	build.Label("compare")
	heavier, other := build.YMM(), build.YMM()
	build.VCMPPS(operand.Imm(atLeast), least, medium, heavier)
	build.VSUBPS(g, medium, other)
	build.VBLENDVPS(heavier, other, rest, rest)
	build.VBLENDVPS(heavier, mediumLog, log, log)
	build.VCMPPS(operand.Imm(atLeast), least, high, heavier)
	build.VSUBPS(g, high, other)
	build.VBLENDVPS(heavier, other, rest, rest)
	build.VBLENDVPS(heavier, highLog, log, log)
	build.VMOVUPS(element(narrow), other)
	build.VBLENDVPS(some, rest, other, rest)
	build.VMOVUPS(rest, element(narrow))
	build.VMOVUPS(element(logs), other)
	build.VBLENDVPS(some, log, other, log)
	build.VMOVUPS(log, element(logs))

	build.Label("done")
	build.ADDQ(operand.I8(lanes), at)
	build.CMPQ(at, n)
	build.JL(operand.LabelRef("next"))
	end()
}

// parts returns the elements of a table of float32 at eight indices, loaded one by one as in lookUp.
func parts(table reg.Register, indices reg.VecVirtual) reg.VecVirtual {
	halves := [2]reg.VecVirtual{build.XMM(), build.XMM()}
	from := build.XMM()
	for h, half := range halves {
		if h == 0 {
			build.VMOVDQA(indices.AsX(), from)
		} else {
			build.VEXTRACTI128(operand.Imm(1), indices, from)
		}
		for i := range lanes / 2 {
			index := build.GP32()
			build.VPEXTRD(operand.Imm(uint64(i)), from, index)
			element := operand.Mem{Base: table, Index: index.As64(), Scale: floatBytes}
			if i == 0 {
				build.VMOVSS(element, half)
			} else {
				build.VPINSRD(operand.Imm(uint64(i)), element, half, half)
			}
		}
	}
	found := build.YMM()
	build.VINSERTI128(operand.Imm(1), halves[1], halves[0].AsY(), found)
	return found
}
