//go:build generate

package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
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

// Predicates of VCMPPS: greater than, false if either is not a number.
const greater = 0x1e

func shadeRow() {
	begin("shadeRowAVX2",
		"func(dst *uint8, wide, narrow, logs *float32, n int, cover, entries *uint8, faint, valueScale float32, add uint64)",
		"shadeRowAVX2 is shadeRowGo for n pixels, a multiple of eight but zero, and a faint that is not negative. The halves of add are for even and for odd columns.")
	dst, wide, narrow, logs, n := load("dst"), load("wide"), load("narrow"), load("logs"), load("n")
	cover, entries := load("cover"), load("entries")
	faint, valueScale := spread("faint"), spread("valueScale")
	add := build.YMM()
	build.VPBROADCASTQ(address(build.Param("add")), add)
	zero := build.YMM()
	build.VXORPS(zero, zero, zero)
	one, cells := constant("one", math.Float32bits(1)), constant("coverCells", math.Float32bits(coverCells))
	last := constant("lastValue", math.Float32bits(valueCells-1))
	levels := constant("levelMask", levelMask)

	at := build.GP64()
	build.XORQ(at, at)
	build.Label("next")
	element := func(base reg.Register) operand.Mem { return operand.Mem{Base: base, Index: at, Scale: floatBytes} }
	g, seen, some := build.YMM(), build.YMM(), build.GP32()
	build.VMOVUPS(element(wide), g)
	build.VCMPPS(operand.Imm(greater), faint, g, seen)
	build.VMOVMSKPS(seen, some)
	build.TESTL(some, some)
	build.JZ(operand.LabelRef("blank"))

	// The level, times sixteen. Gathering reads only the lanes of its mask, and clears the mask.
	cell, mask, level := build.YMM(), build.YMM(), build.YMM()
	build.VMINPS(one, g, cell)
	build.VMULPS(cells, cell, cell)
	build.VCVTTPS2DQ(cell, cell)
	build.VMOVAPS(seen, mask)
	build.VXORPS(level, level, level)
	build.VPGATHERDD(mask, operand.Mem{Base: cover, Index: cell, Scale: 1}, level)
	build.VPADDD(add, level, level)
	build.VPAND(levels, level, level)
	build.VPAND(seen, level, level)
	build.VPCMPGTD(zero, level, seen)
	build.VMOVMSKPS(seen, some)
	build.TESTL(some, some)
	build.JZ(operand.LabelRef("blank"))

	// VMAXPS and VMINPS give their first operand, as written here, where either is not a number.
	weight, value := build.YMM(), build.YMM()
	build.VADDPS(element(narrow), g, weight)
	build.VMOVUPS(element(logs), value)
	build.VDIVPS(weight, value, value)
	build.VMULPS(valueScale, value, value)
	build.VMAXPS(zero, value, value)
	build.VMINPS(last, value, value)
	build.VCVTTPS2DQ(value, value)
	build.VPSLLD(operand.Imm(levelShift), level, level)
	build.VPADDD(level, value, value)
	entry := build.YMM()
	build.VXORPS(entry, entry, entry)
	build.VPGATHERDD(seen, operand.Mem{Base: entries, Index: value, Scale: 1}, entry)

	// The lowest byte of each lane, four from each half.
	build.VPSHUFB(lowBytes(), entry, entry)
	high := build.XMM()
	build.VEXTRACTI128(operand.Imm(1), entry, high)
	build.VPUNPCKLDQ(high, entry.AsX(), high)
	build.VMOVQ(high, operand.Mem{Base: dst, Index: at, Scale: 1})
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

// constant returns bits in all lanes of a vector. They are given as a number, since avo writes a float that is whole as
// an integer.
func constant(name string, bits uint32) reg.VecVirtual {
	v := build.YMM()
	build.VBROADCASTSS(build.ConstData(name, operand.U32(bits)), v)
	return v
}

// lowBytes returns the shuffle that moves the lowest byte of each lane to the first four of its half.
func lowBytes() operand.Mem {
	m := build.GLOBL("lowBytes", attr.RODATA|attr.NOPTR)
	for half := range 2 {
		build.DATA(half*16, operand.U32(0x0c080400))
		for i := 1; i < 4; i++ {
			build.DATA(half*16+4*i, operand.U32(0x80808080))
		}
	}
	return m
}
