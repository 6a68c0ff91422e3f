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
	forecast int // how many weeks ahead; 0 for a map of values
}

// readMap reads style=, colormap= and forecast=. The map of a forecast has its own styles and colours, and excludes the parameters of that
// names.
func (s *common) readMap(query *params.Params, excluded ...string) mapChoice {
	week := query.Integer("forecast", 1, data.ForecastWeeks, 0)
	if week == 0 {
		return mapChoice{style: params.OneOf(query, "style", s.styleIDs), colormap: params.OneOf(query, "colormap", s.colormaps.ids)}
	}
	for _, name := range append(excluded, "colormap") {
		if _, given := query.Text(name); given {
			query.Refuse(name, "given together with forecast, which it does not apply to; give only one")
		}
	}
	return mapChoice{params.OneOf(query, "style", s.forecastIDs), colormap.Forecast, week}
}

// look returns the look of the symbols of m.
func (s *common) look(m mapChoice) tiles.Look {
	styles := s.opts.Styles
	if m.colormap == colormap.Forecast {
		styles = tiles.ForecastStyles()
	}
	return styles[slices.IndexFunc(styles, func(style tiles.Style) bool { return style.ID == m.style })].Look
}

// checkForecast returns an error with status 404 if the newest issue of the forecast has no such week.
func checkForecast(snap *snapshot.Snapshot, week int) error {
	switch f := snap.Forecasts; {
	case f == nil:
		return absent("There is no forecast: the server has none of its own yet.")
	case week > f.Issue.Weeks:
		return absent(fmt.Sprintf("The newest forecast, of %s, has no week %d, only 1 to %d.", f.Issue.Issued, week, f.Issue.Weeks))
	}
	return nil
}

// forecastText returns the name and the description of the map of a week ahead. The week must exist.
func (s *common) forecastText(snap *snapshot.Snapshot, week int) (name, description string) {
	f := snap.Forecasts
	legend := s.colormaps.byID[colormap.Forecast].ForecastLegend()
	return "limnomap forecast of " + f.Issue.Target(week).String(),
		"Hatched: " + legend.Quantity + ", " + strconv.Itoa(7*week) + " days after " + f.Issue.Issued.String() + ". " + legend.Note
}
