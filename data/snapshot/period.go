package snapshot

import "limnomap/data"

// A period holds PeriodStart and Composite of [data.Details] in two bytes: the days before the date of the value, plus one, and the composite.
// It is 0 if both are unknown.
type period uint16

const (
	composites = int(data.MedianComposite) + 1
	maxPeriod  = period((data.MaxPeriod+2)*composites - 1)
)

func periodOf(o *data.Observation) period {
	days := 0
	if start := o.Details.PeriodStart; start.Known {
		days = int(o.Date-start.Value) + 1
	}
	return period(days*composites + int(o.Details.Composite))
}

// start returns the first day of the period of a value of that date.
func (p period) start(date data.Date) data.Optional[data.Date] {
	days := data.Date(int(p) / composites)
	if days == 0 {
		return data.Optional[data.Date]{}
	}
	return data.Known(date - days + 1)
}

func (p period) composite() data.Composite { return data.Composite(int(p) % composites) }
