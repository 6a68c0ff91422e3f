package snapshot

import (
	"fmt"
	"time"

	"limnomap/data"
)

// An AsOf says from which day ages count. The zero value is the present day by the clock, in UTC. The others are for archives.
type AsOf struct {
	newest bool
	day    data.Optional[data.Date]
}

// Newest counts from the newest measurement.
var Newest = AsOf{newest: true}

// Day counts from d. Observations of later days are left out.
func Day(d data.Date) AsOf { return AsOf{day: data.Known(d)} }

// ParseAsOf reads what [AsOf.String] returns: "data" is [Newest], YYYY-MM-DD a day, and nothing is the clock.
func ParseAsOf(s string) (AsOf, error) {
	switch s {
	case "":
		return AsOf{}, nil
	case "data":
		return Newest, nil
	}
	d, err := data.ParseDate(s)
	if err != nil {
		return AsOf{}, fmt.Errorf("%.80q is neither data nor a day as YYYY-MM-DD", s)
	}
	return Day(d), nil
}

func (a AsOf) String() string {
	switch {
	case a.newest:
		return "data"
	case a.day.Known:
		return a.day.Value.String()
	}
	return ""
}

// Clock reports whether ages count from the present day.
func (a AsOf) Clock() bool { return a == AsOf{} }

// on returns the day from which ages count at a time, if the newest measurement is of that date.
func (a AsOf) on(now time.Time, newest data.Date) data.Date {
	switch {
	case a.newest:
		return newest
	case a.day.Known:
		return a.day.Value
	}
	return data.DateOf(now)
}

// Last returns the last day whose observations are shown.
func (a AsOf) Last() data.Date {
	if a.day.Known {
		return a.day.Value
	}
	return data.MaxDate
}
