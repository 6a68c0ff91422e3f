package data

// A PixelState identifies the pixels of satellites that are stored with observations. The zero value is none.
type PixelState struct {
	Count  int64 // of observations with pixels
	Digest int64 // of all of them; the same pixels have the same
}

// A LakeValue names the observations of a lake on a day with a value.
type LakeValue struct {
	Lake        LakeID
	Date        Date
	Chlorophyll Chlorophyll
}
