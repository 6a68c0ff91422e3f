package data_test

import (
	"math"
	"testing"

	"limnomap/data"
	"limnomap/data/pixels"
	"limnomap/data/raster/georef"
	"limnomap/data/raster/zonal"
)

// The class of each pixel is that of its value, by the limits of every profile.
func TestPixelSharesByLimits(t *testing.T) {
	packer := pixels.NewPacker()
	for _, profile := range data.Profiles() {
		for code := range pixels.Code(pixels.Codes) {
			chl, ok := code.Value()
			packed := packer.Pack(oneLine([]pixels.Code{code}))
			spread, err := pixels.SpreadOf(packed.Codes)
			if err != nil {
				t.Fatal(err)
			}
			shares, valued := data.PixelSharesOf(spread, &profile)
			if valued != ok {
				t.Errorf("%s: code %d has shares: %t", profile.ID, code, valued)
			}
			if !ok {
				continue
			}
			want, err := data.ChlorophyllOf(chl)
			if err != nil {
				t.Fatal(err)
			}
			risk := profile.Level(want).Risk()
			if shares.Risks[risk] != 10_000 || shares.Valid != 1 || shares.Inside != 1 || shares.P10 != want || shares.P90 != want {
				t.Errorf("%s: the shares of %.4f µg/l are %+v, want all of them %s", profile.ID, chl, shares, risk)
			}
		}
	}
}

// Shares are of the pixels with a value.
func TestPixelSharesOfAPart(t *testing.T) {
	codes := []pixels.Code{pixels.NoData, pixels.BelowLimit, pixels.CodeOf(4), pixels.CodeOf(20), pixels.CodeOf(20), pixels.CodeOf(80), pixels.CodeOf(80), pixels.CodeOf(80), pixels.Ice, pixels.OutOfRange}
	spread, err := pixels.SpreadOf(pixels.NewPacker().Pack(oneLine(codes)).Codes)
	if err != nil {
		t.Fatal(err)
	}
	shares, ok := data.PixelSharesOf(spread, &data.Profiles()[0])
	if want := [...]data.TenThousandths{0, 2857, 2857, 4286}; !ok || shares.Risks != want || shares.Valid != 7 || shares.Inside != 10 || math.Abs(shares.P90.Float()/80-1) > 0.011 {
		t.Errorf("the shares are %+v, want %v", shares, want)
	}
}

// oneLine returns a lake of one row of pixels.
func oneLine(codes []pixels.Code) *pixels.Map {
	grid, err := georef.Parse("9 9 6 0.5 0 47 0 -0.5 EPSG:4326")
	if err != nil {
		panic(err)
	}
	row := 0
	mask, err := zonal.MaskOf(func() (y, x0, x1 int, ok bool) {
		row++
		return 0, 0, len(codes), row == 1
	})
	if err != nil {
		panic(err)
	}
	return &pixels.Map{Grid: grid, Mask: mask, Codes: codes}
}
