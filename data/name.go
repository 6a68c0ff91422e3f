package data

import (
	"fmt"
	"strings"
)

// parseName returns the one of some values that has this name, or an error that lists their names.
func parseName[T fmt.Stringer](s, what string, values ...T) (T, error) {
	for _, v := range values {
		if s == v.String() {
			return v, nil
		}
	}
	var none T
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = v.String()
	}
	return none, fmt.Errorf("%s %.80q is none of %s", what, s, strings.Join(names, ", "))
}
