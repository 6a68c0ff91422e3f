package api

import (
	"net/http"

	"limnomap/api/params"
	"limnomap/api/record"
	"limnomap/api/route"
	"limnomap/api/weekpage"
	"limnomap/api/words"
	"limnomap/data"
	"limnomap/data/snapshot"
)

const pathRegions = "/regions/"

// weekYearAgo returns the week whose map is that of a year ago: its Sunday is the nearest to the day 52 weeks before.
func weekYearAgo(day data.Date) data.Week { return (day - 7*52 - 3).Week() }

// maxRegions is of how many regions is kept what is known: the states of a country, some 10 KB each without closures.
const maxRegions = 64

// A regionHandler answers with what is known of the lakes of a region.
type regionHandler struct {
	*common
	pages *weekpage.RegionMaker
}

// region returns the region of a request, by its name in any case.
func (h *regionHandler) region(r *http.Request, p *published) (*weekpage.Region, error) {
	name, lakes := p.lookup.regions.find(route.Values(r)[0])
	switch {
	case len(lakes) == 0:
		return nil, errNoRegion
	case len(lakes) > maxScannedLakes:
		return nil, errLargeRegion
	}
	if region, ok := p.regions.Get(name); ok {
		return region, nil
	}
	var region *weekpage.Region
	week, later := weekYearAgo(p.snap.Current.AsOf), false
	scan := func() (err error) {
		region, err = weekpage.RegionOf(r.Context(), p.snap, name, lakes)
		return err
	}
	var err error
	if len(p.snap.Weeks) == 0 || week < p.snap.Weeks[0].Week {
		err = h.sender.InTurn(r, yearsCost*len(lakes), scan)
	} else {
		err = p.weeks.during(r, p.snap, week, func(view *snapshot.View) error {
			if err := scan(); err != nil {
				return err
			}
			region.SetYearAgo(view, lakes)
			later = view.Later
			return nil
		})
	}
	if err == nil && !later {
		p.regions.Add(name, region)
	}
	return region, err
}

// page answers with the region as a page.
func (h *regionHandler) page(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	language := languageOf(&query)
	if err := query.Err(); err != nil {
		return err
	}
	region, err := h.region(r, p)
	if err != nil {
		return err
	}
	content, language, err := h.pages.Page(region, h.readerOf(r, p, language), p.snap.Profile)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Language", language)
	w.Header().Add("Vary", "Accept-Language")
	return h.sender.SendBytes(w, r, pageKind, content)
}

// A regionClass is a number of lakes.
type regionClass struct {
	class        words.Class
	now, yearAgo float64 // NaN if it is not known
}

var (
	regionClassColumns = record.Columns[regionClass]{
		record.Word("class", func(c regionClass) string { return c.class.String() }),
		record.Integer("lakes", func(c regionClass) float64 { return c.now }),
		record.Integer("lakes_year_ago", func(c regionClass) float64 { return c.yearAgo }).OrNull(),
	}
	regionLakeColumns = record.Columns[*weekpage.RegionLake]{
		record.Word("lake_id", func(l *weekpage.RegionLake) string { return string(l.Lake.ID) }),
		record.Text("name", func(l *weekpage.RegionLake) string { return l.Lake.Name }),
		record.Word("risk", func(l *weekpage.RegionLake) string { return l.Class.String() }),
		record.Chlorophyll("chl", func(l *weekpage.RegionLake) data.Chlorophyll { return l.Chlorophyll }),
		record.Word("date", func(l *weekpage.RegionLake) string { return l.Measured.String() }),
	}
	regionClosureColumns = record.Columns[*weekpage.RegionClosure]{
		record.Word("lake_id", func(c *weekpage.RegionClosure) string { return string(c.Lake.ID) }),
		record.Text("name", func(c *weekpage.RegionClosure) string { return c.Lake.Name }),
		record.Word("advisory_id", func(c *weekpage.RegionClosure) string { return string(c.Statement.ID) }),
	}
	seasonColumns = record.Columns[*weekpage.Season]{
		record.Integer("year", func(s *weekpage.Season) float64 { return float64(s.Year) }),
		record.Integer("lakes", func(s *weekpage.Season) float64 { return float64(s.Lakes) }),
		record.Integer("weeks_low", func(s *weekpage.Season) float64 { return float64(s.Weeks[data.RiskLow]) }),
		record.Integer("weeks_medium", func(s *weekpage.Season) float64 { return float64(s.Weeks[data.RiskMedium]) }),
		record.Integer("weeks_high", func(s *weekpage.Season) float64 { return float64(s.Weeks[data.RiskHigh]) }),
	}
)

// json answers with the region as JSON.
func (h *regionHandler) json(w http.ResponseWriter, r *http.Request, p *published) error {
	query := params.Of(r)
	if err := query.Err(); err != nil {
		return err
	}
	region, err := h.region(r, p)
	if err != nil {
		return err
	}
	var classes []regionClass
	for c := range words.Classes {
		classes = append(classes, regionClass{c, float64(region.Now[c]), record.Known(region.YearAgo[c], region.Before.Known)})
	}
	content := record.Object("{").Time("generated_at", generatedAt(p.snap)).Text("region", region.Name).Text("date", region.Date.String()).
		TextOrNull("year_ago", record.Day(region.Before)).Int("total_lakes", region.Lakes)
	content = appendAll(content.Array("classes"), classes, regionClassColumns)
	content = appendAll(content.Close("]").Array("worst"), pointers(region.Worst), regionLakeColumns)
	content = appendAll(content.Close("]").Array("closures"), pointers(region.Closures), regionClosureColumns)
	content = appendAll(content.Close("]").Array("seasons"), pointers(region.Seasons), seasonColumns)
	return h.sender.SendBytes(w, r, jsonKind, content.Close("]}\n"))
}
