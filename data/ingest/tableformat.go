package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A TableFormat says how the tables of an import write what their content does not show, or not clearly. The zero value means that it is detected.
type TableFormat struct {
	// Encoding is the name of a character encoding, such as windows-1250. A file with a byte-order mark is UTF-8 all the same.
	Encoding string
	// DateOrder is dmy, mdy or ymd: what 7/9/2018 means.
	DateOrder string
	// Null are words that mean no value, in addition to the usual ones.
	Null []string
	// Parameters are the names of the parameters that are chlorophyll-a, in tables with one row for each parameter.
	Parameters []string
}

// Check returns an error if f is not allowed.
func (f TableFormat) Check() error {
	_, err := f.parse()
	return err
}

// A tableFormat is a TableFormat that is checked.
type tableFormat struct {
	inUTF8     bool
	encoding   *byteEncoding
	dates      dateOrder
	nulls      []string
	parameters []string // as parameterKey returns them
}

// maxWords bounds the words of each list of a TableFormat.
const maxWords = 50

func (f TableFormat) parse() (tableFormat, error) {
	t := tableFormat{dates: dateOrder(strings.ToLower(f.DateOrder))}
	var err error
	if f.Encoding != "" {
		if t.encoding, err = encodingNamed(f.Encoding); err != nil {
			return t, err
		}
		t.inUTF8 = t.encoding == nil
	}
	if t.dates != "" && !slices.Contains(dateOrders, t.dates) {
		return t, fmt.Errorf("order of dates %.40q: want one of dmy, mdy, ymd", f.DateOrder)
	}
	if len(f.Null) > maxWords || len(f.Parameters) > maxWords {
		return t, fmt.Errorf("more than %d words for no value, or names of parameters: want at most as many", maxWords)
	}
	for _, word := range f.Null {
		if word = strings.TrimSpace(word); word == "" {
			return t, errors.New("a word for no value is empty: an empty field has no value in any case")
		}
		t.nulls = append(t.nulls, word)
	}
	for _, name := range f.Parameters {
		key := parameterKey(name)
		if key == "" {
			return t, fmt.Errorf("parameter %.40q: want its name in the files", name)
		}
		t.parameters = append(t.parameters, key)
	}
	return t, nil
}
