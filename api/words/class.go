package words

import (
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const (
	// oldAfter is after how many days a value says nothing about the water now, as on the map: two periods of a weekly product.
	oldAfter = 14
	// closedColor is the colour of closed lakes, as on the map.
	closedColor = "#16191c"
)

// Old reports whether a value measured on that day is too old to say anything about the water today.
func Old(measured, today data.Date) bool { return today-measured > oldAfter }

// A Class is what a page says about a lake in one word and by one symbol: that an authority closed it, whatever its value; its risk; or that
// it has no current value, whatever its last risk.
type Class uint8

const (
	Closed Class = iota // the worst first
	HighRisk
	MediumRisk
	LowRisk
	NoValue

	Classes // how many there are
)

var classNames = [Classes]string{Closed: "closed", HighRisk: "high", MediumRisk: "medium", LowRisk: "low", NoValue: "none"}

// ClassNames returns the names of the classes in addresses, templates and words, in their order.
func ClassNames() []string { return classNames[:] }

// String returns the name of the class, of which each page has a symbol.
func (c Class) String() string { return classNames[c] }

// ClassOf returns the class of the i-th lake of a view, as on the map.
func ClassOf(view *snapshot.View, i int) Class {
	if view.Advisories.Kind(i) == data.Closure {
		return Closed
	}
	return classOfValue(&view.States[i])
}

// classOfValue returns the class of a lake without what authorities say.
func classOfValue(state *snapshot.State) Class {
	if !state.Chlorophyll.Valid() {
		return NoValue
	}
	return ClassOfRisk(state.Risk)
}

// ClassOfRisk returns the class of a value with that risk.
func ClassOfRisk(risk data.Risk) Class {
	switch risk {
	case data.RiskHigh:
		return HighRisk
	case data.RiskMedium:
		return MediumRisk
	case data.RiskLow:
		return LowRisk
	}
	return NoValue
}

// Colors are the colours of the symbols, by class.
type Colors [Classes]string

// ColorsOf returns the colours of the symbols: the classes of that scale.
func ColorsOf(scale *colormap.Map) Colors {
	colors := Colors{Closed: closedColor, NoValue: colormap.Hex(colormap.NoData())}
	for i, c := range scale.Legend().Classes {
		colors[LowRisk-Class(i)] = c.Color
	}
	return colors
}
