package tiles

import (
	"math"
	runtimemetrics "runtime/metrics"
	"slices"
)

// sizeClasses are the sizes that the allocator rounds up to, ascending.
type sizeClasses []int64

// readSizeClasses asks the runtime, which tells them as the bounds of a histogram: the first size of each class.
func readSizeClasses() sizeClasses {
	sample := []runtimemetrics.Sample{{Name: "/gc/heap/allocs-by-size:bytes"}}
	runtimemetrics.Read(sample)
	if sample[0].Value.Kind() != runtimemetrics.KindFloat64Histogram {
		return nil
	}
	var sizes sizeClasses
	for _, first := range sample[0].Value.Float64Histogram().Buckets {
		if first > 1 && !math.IsInf(first, 1) {
			sizes = append(sizes, int64(first)-1)
		}
	}
	return sizes
}

// round returns what n bytes take: the next class, and beyond the largest, whole pages.
func (sizes sizeClasses) round(n int) int64 {
	if i, _ := slices.BinarySearch(sizes, int64(n)); i < len(sizes) {
		return sizes[i]
	}
	const page = 8192 // pageShift in runtime/sizeclasses.go
	return (int64(n) + page - 1) / page * page
}
