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
	coverCells = 1 << 13
	valueCells = 1 << 11
	levelMask  = 0xf0 // of a byte of cover
	levelShift = 7    // from there to the level's first cell: log2(valueCells) - 4
)

// Predicates of VCMPPS. The first two are false where either operand is not a number, the last is true.
const (
	atLeast  = 0x1d
	greater  = 0x1e
	notEqual = 0x04
)

func shadeRow() {
	begin("shadeRowAVX2",
		"func(dst *uint8, weights, logs *float32, n int, cover, entries *uint8, faint, valueScale float32, add uint64)",
		"shadeRowAVX2 is shadeRowGo for n pixels, a multiple of eight but not zero, and a faint that is not negative. The",
		"halves of add are for even and for odd columns.")
	dst, weights, logs, n := load("dst"), load("weights"), load("logs"), load("n")
	cover, entries := load("cover"), load("entries")
	faint, valueScale := spread("faint"), spread("valueScale")
	add, full, zero := build.YMM(), build.YMM(), build.YMM()
	build.VPBROADCASTQ(address(build.Param("add")), add)
	build.VPBROADCASTB(operand.Mem{Base: cover, Disp: coverCells}, full)
	build.VXORPS(zero, zero, zero)
	one, cells := constant("one", math.Float32bits(1)), constant("coverCells", math.Float32bits(coverCells))
	last := constant("lastValue", math.Float32bits(valueCells-1))
	levels := constant("levelMask", levelMask)

	at := build.GP64()
	build.XORQ(at, at)
	build.Label("next")
	element := func(base reg.Register) operand.Mem { return operand.Mem{Base: base, Index: at, Scale: floatBytes} }
	g, seen, some := build.YMM(), build.YMM(), build.GP32()
	build.VMOVUPS(element(weights), g)
	build.VCMPPS(operand.Imm(greater), faint, g, seen)
	build.VMOVMSKPS(seen, some)
	build.TESTL(some, some)
	build.JZ(operand.LabelRef("blank"))

	// The level, times sixteen: one for all pixels in a crowd, where all weigh at least 1.
	cell, level, crowd := build.YMM(), build.YMM(), build.YMM()
	build.VCMPPS(operand.Imm(atLeast), one, g, crowd)
	build.VMOVMSKPS(crowd, some)
	build.VMOVDQA(full, level)
	build.CMPL(some, operand.U32(1<<lanes-1))
	build.JEQ(operand.LabelRef("levels"))
	build.VMINPS(one, g, cell)
	build.VMULPS(cells, cell, cell)
	build.VCVTTPS2DQ(cell, cell)
	build.VPAND(seen, cell, cell)
	build.VPMOVZXBD(lookUp(cover, cell), level)
	build.Label("levels")
	build.VPADDD(add, level, level)
	build.VPAND(levels, level, level)
	build.VPAND(seen, level, level)
	build.VPCMPGTD(zero, level, seen)
	build.VMOVMSKPS(seen, some)
	build.TESTL(some, some)
	build.JZ(operand.LabelRef("blank"))

	// VMAXPS and VMINPS give their first operand, as written here, where either is not a number.
	value := build.YMM()
	build.VMOVUPS(element(logs), value)
	build.VDIVPS(g, value, value)
	build.VMULPS(valueScale, value, value)
	build.VMAXPS(zero, value, value)
	build.VMINPS(last, value, value)
	build.VCVTTPS2DQ(value, value)
	build.VPSLLD(operand.Imm(levelShift), level, level)
	build.VPADDD(level, value, value)
	entry := lookUp(entries, value)

	// A pixel without a level has the entry 0, whatever the table says.
	mask := build.XMM()
	build.VEXTRACTI128(operand.Imm(1), seen, mask)
	build.VPACKSSDW(mask, seen.AsX(), mask)
	build.VPACKSSWB(mask, mask, mask)
	build.VPAND(mask, entry, entry)
	build.VMOVQ(entry, operand.Mem{Base: dst, Index: at, Scale: 1})
	build.ADDQ(operand.I8(lanes), at)
	build.CMPQ(at, n)
	build.JL(operand.LabelRef("next"))
	end()

	build.Label("blank")
	build.MOVQ(operand.U32(0), operand.Mem{Base: dst, Index: at, Scale: 1})
	build.ADDQ(operand.I8(lanes), at)
	build.CMPQ(at, n)
	build.JL(operand.LabelRef("next"))
	end()
}

// lookUp returns the bytes of a table at eight indices. Loads one by one are quicker than VPGATHERDD, and much quicker
// where microcode against Gather Data Sampling (CVE-2022-40982) slows that down.
func lookUp(table reg.Register, indices reg.VecVirtual) reg.VecVirtual {
	found, half := build.XMM(), build.XMM()
	build.VPXOR(found, found, found)
	for i := range lanes / 2 {
		switch i {
		case 0:
			build.VMOVDQA(indices.AsX(), half)
		case 2:
			build.VEXTRACTI128(operand.Imm(1), indices, half)
		}
		first, second := build.GP64(), build.GP64()
		build.VPEXTRQ(operand.Imm(uint64(i%2)), half, second)
		build.MOVL(second.As32(), first.As32())
		build.SHRQ(operand.Imm(32), second)
		build.VPINSRB(operand.Imm(uint64(2*i)), operand.Mem{Base: table, Index: first, Scale: 1}, found, found)
		build.VPINSRB(operand.Imm(uint64(2*i+1)), operand.Mem{Base: table, Index: second, Scale: 1}, found, found)
	}
	return found
}

// constant returns bits in all lanes of a vector. They are given as a number, since avo writes a float that is whole as
// an integer.
func constant(name string, bits uint32) reg.VecVirtual {
	v := build.YMM()
	build.VBROADCASTSS(build.ConstData(name, operand.U32(bits)), v)
	return v
}
