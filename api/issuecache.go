package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"limnomap/api/answer"
	"limnomap/api/params"
	"limnomap/data"
	"limnomap/data/snapshot"
	"limnomap/tiles/admission"
)

// issueTimeout bounds the wait for a turn to read an issue, and the read.
const issueTimeout = 20 * time.Second

// maxCachedIssues and maxCachedIssueBytes bound the earlier issues in memory. One is kept at any size.
const (
	maxCachedIssues     = 4
	maxCachedIssueBytes = 64 << 20
)

// A cachedIssue is an issue that was read for the lakes of a revision.
type cachedIssue struct {
	revision data.Revision
	*snapshot.Forecasts
}

// newestIssue returns the newest issue, if the request asks for that; nil if there is none.
func newestIssue(snap *snapshot.Snapshot, issued data.Optional[data.Date]) *snapshot.Forecasts {
	if newest := snap.Forecasts; newest != nil && (!issued.Known || issued.Value == newest.Issue.Issued) {
		return newest
	}
	return nil
}

// issueOf returns the forecasts of the newest issue, or of the day that the request names.
func (h *lakeHandlers) issueOf(r *http.Request, query *params.Params, snap *snapshot.Snapshot, issued data.Optional[data.Date]) (*snapshot.Forecasts, error) {
	if newest := newestIssue(snap, issued); newest != nil {
		return newest, nil
	}
	if !issued.Known {
		return nil, data.ErrNoForecast
	}
	f, issues, err := h.issues.read(r, snap, issued.Value)
	if err == nil && f == nil {
		if len(issues) == 0 {
			return nil, data.ErrNoForecast
		}
		refuseIssue(query, issued.Value, issues)
		err = query.Err()
	}
	return f, err
}

// An issueCache has the earlier issues that were asked for last. They are read in turns, which the clients share fairly; those that
// requests use count as memory of answers.
type issueCache struct {
	source Issues
	turns  *admission.Turns
	memory *admission.Budget

	mu     sync.Mutex    // guards issues
	issues []cachedIssue // the last one used is the last
}

// read returns the issue of a day; if there is none, it returns those that there are.
func (c *issueCache) read(r *http.Request, snap *snapshot.Snapshot, issued data.Date) (f *snapshot.Forecasts, issues []data.ForecastIssue, err error) {
	hold, err := c.memory.Hold(answer.ClientOf(r), snap.ForecastBytes())
	if err != nil {
		return nil, nil, err
	}
	answer.InfoOf(r).OnRelease(hold.Release)
	if f = c.get(snap, issued); f != nil {
		return f, nil, nil
	}
	err = askInTurn(r, c.turns, issueTimeout, errIssueStore, func(ctx context.Context) (err error) {
		if f = c.get(snap, issued); f != nil { // another request has read it meanwhile
			return nil
		}
		if f, _, err = snap.ReadForecasts(ctx, c.source, data.Known(issued)); err == nil {
			c.put(snap, f)
			return nil
		}
		if errors.Is(err, data.ErrNoForecast) {
			f = nil
			issues, err = c.source.ForecastIssues(ctx)
		}
		return err
	})
	return f, issues, err
}

// get returns the issue of a day that was read for the lakes of a snapshot; nil if there is none.
func (c *issueCache) get(snap *snapshot.Snapshot, issued data.Date) *snapshot.Forecasts {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, cached := range c.issues {
		if cached.Issue.Issued == issued && cached.revision.Equal(snap.Revision) {
			c.issues = append(slices.Delete(c.issues, i, i+1), cached)
			return cached.Forecasts
		}
	}
	return nil
}

// put keeps an issue, and drops those of other revisions and those that were not used for longest.
func (c *issueCache) put(snap *snapshot.Snapshot, f *snapshot.Forecasts) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.issues = slices.DeleteFunc(c.issues, func(other cachedIssue) bool { return !other.revision.Equal(snap.Revision) })
	c.issues = append(c.issues, cachedIssue{snap.Revision, f})
	held := max(1, min(maxCachedIssues, int(maxCachedIssueBytes/max(1, snap.ForecastBytes()))))
	c.issues = slices.Delete(c.issues, 0, max(0, len(c.issues)-held))
}
