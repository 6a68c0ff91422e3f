package limnomaptest

import (
	"flag"
	"strconv"
)

// Parallel lets n tests of a package run at once, unless the flag -parallel sets another number. It is for packages whose
// tests mostly wait for other processes. TestMain calls it.
func Parallel(n int) {
	flag.Parse()
	set := false
	flag.Visit(func(f *flag.Flag) { set = set || f.Name == "test.parallel" })
	if !set {
		_ = flag.Set("test.parallel", strconv.Itoa(n)) // the flag exists in every test
	}
}
