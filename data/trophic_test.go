package data

import (
	"testing"
)

func TestOECDClass(t *testing.T) {
	tests := []struct {
		sum, n int64
		want   Trophic
	}{
		{0, 5, Ultraoligotrophic},
		{5_00, 5, Ultraoligotrophic}, // a mean of 1.0
		{5_01, 5, Oligotrophic},      // 1.002, which two decimals could not tell from 1.00
		{12_50, 5, Oligotrophic},     // 2.5
		{12_51, 5, Mesotrophic},
		{39_99, 5, Mesotrophic}, // 7.998
		{40_00, 5, Eutrophic},   // 8
		{124_99, 5, Eutrophic},
		{125_00, 5, Hypertrophic}, // 25
		{7500_00, 5, Hypertrophic},
	}
	for _, tt := range tests {
		if got := OECDClass(tt.sum, tt.n); got != tt.want {
			t.Errorf("OECDClass(%d, %d) = %s, want %s", tt.sum, tt.n, got, tt.want)
		}
	}
}
