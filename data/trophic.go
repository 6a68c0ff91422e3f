package data

// Trophic is a lake's trophic status by OECD 1982.
type Trophic uint8

const (
	TrophicUnknown Trophic = iota // "unknown"
	Ultraoligotrophic
	Oligotrophic
	Mesotrophic
	Eutrophic
	Hypertrophic
)

var trophicNames = [...]string{"unknown", "ultraoligotrophic", "oligotrophic", "mesotrophic", "eutrophic", "hypertrophic"}

func (t Trophic) String() string { return trophicNames[t] }

// OECDClass returns the class of the mean of n > 0 values with that sum, in hundredths of µg/l, by the fixed boundaries of
// OECD 1982 (Vollenweider and Kerekes: Eutrophication of Waters. Monitoring, Assessment and Control). The sum is
// compared with n times each boundary, so that a mean of 2.5 is exactly 2.5.
func OECDClass(sum, n int64) Trophic {
	switch {
	case sum <= 1_00*n:
		return Ultraoligotrophic
	case sum <= 2_50*n:
		return Oligotrophic
	case sum < 8_00*n:
		return Mesotrophic
	case sum < 25_00*n:
		return Eutrophic
	}
	return Hypertrophic
}
