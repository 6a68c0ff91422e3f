package api

import (
	"fmt"
	"slices"
	"strconv"

	"limnomap/api/params"
	"limnomap/colormap"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles"
)

// A mapChoice is the map that a client chose: its colours and signs, but not its week.
type mapChoice struct {
	style    tiles.StyleID
	colormap colormap.ID
	forecast int       // how many weeks ahead; 0 for a map of values
	of       data.Risk // whose probability the map of a forecast shows, or a graver one's: medium or high
}

// chanceRisks are the values of of=, the default first.
var chanceRisks = []string{data.RiskMedium.String(), data.RiskHigh.String()}

// readMap reads style=, colormap=, forecast= and of=. The map of a forecast has its own styles and colours, and excludes the parameters of that
// names.
func (s *common) readMap(query *params.Params, excluded ...string) mapChoice {
	week := query.Integer("forecast", 1, data.ForecastWeeks, 0)
	if week == 0 {
		if _, given := query.Text("of"); given {
			query.Refuse("of", "given without forecast, to which it applies; give both")
		}
		return mapChoice{style: params.OneOf(query, "style", s.styleIDs), colormap: params.OneOf(query, "colormap", s.colormaps.ids)}
	}
	for _, name := range append(excluded, "colormap") {
		if _, given := query.Text(name); given {
			query.Refuse(name, "given together with forecast, which it does not apply to; give only one")
		}
	}
	of := data.RiskMedium
	if params.OneOf(query, "of", chanceRisks) == data.RiskHigh.String() {
		of = data.RiskHigh
	}
	return mapChoice{params.OneOf(query, "style", s.forecastIDs), colormap.Forecast, week, of}
}

// look returns the look of the symbols of m.
func (s *common) look(m mapChoice) tiles.Look {
	styles := s.opts.Styles
	if m.colormap == colormap.Forecast {
		styles = tiles.ForecastStyles()
	}
	return styles[slices.IndexFunc(styles, func(style tiles.Style) bool { return style.ID == m.style })].Look
}

// weekAhead returns which week of the newest issue of the forecast lies that many weeks ahead: of 1, it is the first whose day is not over.
// The error has the status 404.
func weekAhead(snap *snapshot.Snapshot, ahead int) (week int, err error) {
	f := snap.Forecasts
	if f == nil {
		return 0, absent("There is no forecast: the server has none of its own yet.")
	}
	over := snap.ForecastWeeksOver()
	switch left := f.Issue.Weeks - over; {
	case left == 0:
		return 0, absent(fmt.Sprintf("The newest forecast, of %s, has expired: its last day was %s.", f.Issue.Issued, f.Issue.Target(f.Issue.Weeks)))
	case ahead > left:
		return 0, absent(fmt.Sprintf("The newest forecast, of %s, has no week %d ahead, only 1 to %d: its last day is %s.",
			f.Issue.Issued, ahead, left, f.Issue.Target(f.Issue.Weeks)))
	}
	return over + ahead, nil
}

// forecastText returns the name and the description of the map of a week of the newest issue.
func (s *common) forecastText(snap *snapshot.Snapshot, week int, of data.Risk) (name, description string) {
	f := snap.Forecasts
	legend := s.colormaps.forecasts[of].ForecastLegend()
	return "limnomap forecast of " + f.Issue.Target(week).String(),
		"Hatched: " + legend.Quantity + ", " + strconv.Itoa(7*week) + " days after " + f.Issue.Issued.String() + ". " + legend.Note
}
