package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"limnomap/api/params"
	"limnomap/data"
	"limnomap/data/snapshot"
)

// issuedOf returns the day of issue that the parameter issued names, absent if there is none.
func issuedOf(p *params.Params) data.Optional[data.Date] {
	parse := func(s string) (data.Optional[data.Date], error) {
		d, err := data.ParseDate(s)
		return data.Known(d), err
	}
	return params.Parsed(p, "issued", data.Optional[data.Date]{}, parse, "is not a day as YYYY-MM-DD")
}

// listedIssues is how many issues an error names.
const listedIssues = 10

// refuseIssue notes that there is no issue of that day.
func refuseIssue(p *params.Params, issued data.Date, issues []data.ForecastIssue) {
	if len(issues) == 0 {
		p.Refuse("issued", "there is no issue of the forecast; leave the parameter out")
		return
	}
	var days []string
	for i := range issues[:min(len(issues), listedIssues)] {
		days = append(days, issues[i].Issued.String())
	}
	if more := len(issues) - len(days); more > 0 {
		days = append(days, "and "+strconv.Itoa(more)+" more, the oldest "+issues[len(issues)-1].Issued.String())
	}
	p.Refuse("issued", "%s is no day of issue; there are: %s", issued, strings.Join(days, ", "))
}

// An issuedForecast is the forecast of a lake, with its issue.
type issuedForecast struct {
	issue *data.ForecastIssue // nil if there is none
	data.LakeForecast
	hasValues bool // so that BasedOn is a day
}

// forecastOf returns the forecast of Lakes[i]: of the newest issue, or of the day that the request names.
func (h *lakeHandlers) forecastOf(r *http.Request, query *params.Params, snap *snapshot.Snapshot, i int, issued data.Optional[data.Date]) (f issuedForecast, err error) {
	if newest := newestIssue(snap, issued); newest != nil {
		f.issue = &newest.Issue
		f.LakeForecast, f.hasValues = newest.Of(i)
		f.LakeID = snap.Lakes[i].ID
		return f, nil
	}
	if !issued.Known {
		return f, nil
	}
	f, issues, err := h.readForecast(r, snap.Lakes[i].ID, issued.Value)
	if err == nil && f.issue == nil {
		refuseIssue(query, issued.Value, issues)
		err = query.Err()
	}
	return f, err
}

// readForecast reads the forecast of a lake from the store; if there is no issue of that day, it returns those that there are.
func (h *lakeHandlers) readForecast(r *http.Request, id data.LakeID, issued data.Date) (f issuedForecast, issues []data.ForecastIssue, err error) {
	err = h.askStore(r, errStore, func(ctx context.Context) error {
		issue, stored, err := h.opts.Issues.LakeForecast(ctx, id, issued)
		if err == nil {
			f = issuedForecast{&issue, stored, true}
			return stored.Check()
		}
		if !errors.Is(err, data.ErrNoForecast) {
			return err
		}
		if issues, err = h.opts.Issues.ForecastIssues(ctx); err != nil {
			return err
		}
		for k := range issues {
			if issues[k].Issued == issued { // the lake had no value then
				f.issue, f.LakeForecast = &issues[k], data.LakeForecast{LakeID: id, Withheld: data.NoValues}
			}
		}
		return nil
	})
	return f, issues, err
}
