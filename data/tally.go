package data

// A tally holds a number for each of some days or weeks in a row, 0 to begin with. Its room is that of the span between
// the first and the last one that was asked for, twice at most: 30 years of days take 0.2 MB, all that a date can name 60.
type tally struct {
	first   int32
	numbers []int
}

// at returns the number of day or week i.
func (t *tally) at(i int32) *int {
	const room = 512 // to begin with, and before and behind what is asked for
	n := int32(len(t.numbers))
	switch {
	case n == 0:
		t.first, t.numbers = i-room, make([]int, 2*room)
	case i < t.first:
		more := max(t.first-i, n) + room
		t.first, t.numbers = t.first-more, append(make([]int, more, more+n), t.numbers...)
	case i-t.first >= n:
		t.numbers = append(t.numbers, make([]int, max(i-t.first-n, n)+room)...)
	}
	return &t.numbers[i-t.first]
}
