package api

import "limnomap/api/answer"

// The kinds of answers of more than one endpoint.
var (
	jsonKind     = answer.NewKind(answer.TypeJSON, answer.CacheMinute)
	geoJSONKind  = answer.NewKind("application/geo+json", answer.CacheMinute) // RFC 7946, section 12
	keyedKind    = answer.NewKind(answer.TypeJSON, answer.CachePrivate)
	timelessKind = jsonKind.Timeless()                                // what does not change with the data
	instantKind  = answer.NewKind(answer.TypeJSON, answer.CacheNever) // what is true at one instant only
	settingsKind = answer.NewKind(answer.TypeJSON, answer.CacheRevisit)
)
