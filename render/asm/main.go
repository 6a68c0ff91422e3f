//go:build generate

// Command asm writes the vector instructions of package render for amd64: the loops of rows.go for eight elements at a
// time. Each does the same roundings in the same order as the loop in plain Go with the same name, so no multiplication is
// fused with an addition. The command is a separate module, so that limnomap does not depend on avo, and has a build tag, so
// that tools skip it; go generate in the parent folder runs it.
//
// The functions do not check the lengths of slices: rows_amd64.go does.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	floatBytes = 4
	lanes      = 8
	logLanes   = 3
	vector     = lanes * floatBytes // bytes
	logVector  = 5
)

func main() {
	lane := lane()
	addOuter(lane)
	addRows(lane)
	keepTop()
	shadeRow()
	build.Generate()
}

// begin starts a function. As a leaf without a frame it needs no check of the stack.
func begin(name, signature string, doc ...string) {
	build.TEXT(name, attr.NOSPLIT, signature)
	build.Pragma("noescape")
	build.Doc(doc...)
}

// end returns from the function. Upper halves of registers left dirty would slow down the floating point of Go's own
// code, which knows only the lower ones.
func end() {
	build.VZEROUPPER()
	build.RET()
}

// load returns a parameter in a general register.
func load(name string) reg.GPVirtual {
	r := build.GP64()
	build.Load(build.Param(name), r)
	return r
}

// spread returns a float32 parameter in all lanes of a vector.
func spread(name string) reg.VecVirtual {
	v := build.YMM()
	build.VBROADCASTSS(address(build.Param(name)), v)
	return v
}

// address returns where a parameter lies.
func address(c gotypes.Component) operand.Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// split leaves in n the bytes of the whole vectors among n elements, and returns how many elements are left over and a
// mask of as many lanes.
func split(n reg.GPVirtual, lane operand.Mem) (left reg.GPVirtual, mask reg.VecVirtual) {
	left, mask = build.GP64(), build.YMM()
	build.MOVQ(n, left)
	build.ANDQ(operand.I8(lanes-1), left)
	build.VMOVD(left.As32(), mask.AsX())
	build.VPBROADCASTD(mask.AsX(), mask)
	build.VPCMPGTD(lane, mask, mask)
	build.SHRQ(operand.I8(logLanes), n)
	build.SHLQ(operand.I8(logVector), n)
	return left, mask
}

// lane returns the vector of the lanes' numbers.
func lane() operand.Mem {
	m := build.GLOBL("lane", attr.RODATA|attr.NOPTR)
	for i := range lanes {
		build.DATA(i*floatBytes, operand.U32(i))
	}
	return m
}
