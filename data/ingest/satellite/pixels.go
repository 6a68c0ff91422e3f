package satellite

import (
	"slices"

	"limnomap/data/pixels"
	"limnomap/data/raster/zonal"
)

// kept returns the pixels of a lake that are kept, nil for none: a disc around one of several sites is not their water.
func (x *extraction) kept(p *pending) *zonal.Mask {
	mask := p.mask
	if p.water != nil {
		mask = p.water
	}
	lake := &x.lakes[p.lake]
	ofOne := x.opts.WithoutOutline.disc > 0 && lake.Outline == "" && lake.WaterID != ""
	if x.opts.WithoutPixels || x.joined[p.lake] || ofOne || mask.Count() > pixels.MaxPixels {
		return nil
	}
	return mask
}

// codeOf returns the code of a pixel of the layer of values.
func (x *extraction) codeOf(value float64, state pixelState) pixels.Code {
	switch {
	case state == hasValue && x.index != nil && value < x.index.least():
		return pixels.BelowLimit
	case state == hasValue && x.index != nil:
		return pixels.CodeOf(chlorophyllOfCI(value))
	case state.usable():
		return pixels.CodeOf(value)
	case state == outOfRange:
		return pixels.OutOfRange
	}
	return pixels.NoData
}

// pack returns the pixels of a lake as they are stored, nil if they are not kept or none has a value.
func (x *extraction) pack(p *pending) *pixels.Packed {
	if !slices.ContainsFunc(p.codes, func(c pixels.Code) bool { _, ok := c.Value(); return ok }) {
		return nil
	}
	if x.packer == nil {
		x.packer = pixels.NewPacker()
	}
	packed := x.packer.Pack(&pixels.Map{Grid: x.grid, Mask: x.kept(p), Codes: p.codes})
	if len(packed.Mask) > pixels.MaxMaskBytes || len(packed.Codes) > pixels.MaxCodeBytes {
		return nil
	}
	return &packed
}
