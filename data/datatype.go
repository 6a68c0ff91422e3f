package data

// A DataType is the kind of source of an observation's value.
type DataType uint8

const (
	Satellite DataType = iota // "satellite": a satellite's pass
	Forecast                  // "ai_forecast": a statistical forecast, never a current value
	InSitu                    // "in_situ": a sample that people took from the lake
)

var dataTypeNames = [...]string{Satellite: "satellite", Forecast: "ai_forecast", InSitu: "in_situ"}

// AllDataTypes returns all data types in the order of their numbers.
func AllDataTypes() []DataType { return []DataType{Satellite, Forecast, InSitu} }

// Each row of an import would allocate these and parsedQualities again.
var parsedDataTypes = []DataType{Satellite, InSitu, Forecast}

// ParseDataType reads what String returns.
func ParseDataType(s string) (DataType, error) {
	return parseName(s, "data type", parsedDataTypes...)
}

func (t DataType) String() string { return dataTypeNames[t] }

// Measured reports whether values of the type were measured: only these can be current.
func (t DataType) Measured() bool { return t != Forecast }

// DataTypes is a set of data types. The empty set means all of them.
type DataTypes uint8

// TypesOf returns the set of types.
func TypesOf(types ...DataType) DataTypes {
	var s DataTypes
	for _, t := range types {
		s |= 1 << t
	}
	return s
}

// Has reports whether t is in s.
func (s DataTypes) Has(t DataType) bool { return s == 0 || s&(1<<t) != 0 }
