package api

import "limnomap/api/answer"

// The kinds of answers of more than one endpoint.
var (
	jsonKind     = answer.NewKind(answer.TypeJSON, answer.CacheMinute)
	geoJSONKind  = answer.NewKind("application/geo+json", answer.CacheMinute) // RFC 7946, section 12
	keyedKind    = answer.NewKind(answer.TypeJSON, answer.CachePrivate)
	timelessKind = jsonKind.Timeless()                                // for answers that do not change with the data
	instantKind  = answer.NewKind(answer.TypeJSON, answer.CacheNever) // for answers that are true only when they are made
	settingsKind = answer.NewKind(answer.TypeJSON, answer.CacheRevisit)
)
