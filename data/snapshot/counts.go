package snapshot

// counts holds a number for each of some consecutive days or weeks, initially 0. It takes at most twice the memory of
// the span between the first and the last one used: 0.2 MB for 30 years of days, 60 MB for every possible date.
type counts struct {
	first   int32
	numbers []int
}

// at returns the number of day or week i.
func (t *counts) at(i int32) *int {
	const spare = 512 // initially, and before and after i when it grows
	n := int32(len(t.numbers))
	switch {
	case n == 0:
		t.first, t.numbers = i-spare, make([]int, 2*spare)
	case i < t.first:
		more := max(t.first-i, n) + spare
		t.first, t.numbers = t.first-more, append(make([]int, more, more+n), t.numbers...)
	case i-t.first >= n:
		t.numbers = append(t.numbers, make([]int, max(i-t.first-n, n)+spare)...)
	}
	return &t.numbers[i-t.first]
}
