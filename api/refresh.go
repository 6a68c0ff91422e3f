package api

import (
	"time"

	"limnomap/data"
)

// A refreshState is the part of /readyz about the refreshes from the source of the data. Another process may have made them.
type refreshState struct {
	LastAttempt *string `json:"last_attempt"` // when it began
	LastSuccess *string `json:"last_success"` // when it ended
	// LastError is why the last one failed, in a few words without internals; null if it did not.
	LastError *string     `json:"last_error"`
	Failures  int         `json:"failures"` // in a row
	Rows      refreshRows `json:"rows"`
}

type refreshRows struct {
	Added     int64 `json:"added"`
	Changed   int64 `json:"changed"`
	Unchanged int64 `json:"unchanged"`
	Rejected  int64 `json:"rejected"`
}

func newRefreshState(r *data.Refresh) *refreshState {
	state := &refreshState{
		LastAttempt: timeText(r.LastAttempt),
		LastSuccess: timeText(r.LastSuccess),
		Failures:    r.Failures,
		Rows:        refreshRows(r.Rows),
	}
	if r.LastError != "" {
		state.LastError = &r.LastError
	}
	return state
}

// timeText returns t as answers write it, nil for the zero time.
func timeText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := string(appendTimeText(nil, t))
	return &text
}

// DatabaseRefreshed reports the state of the refreshes of the database from its source, for the body of /readyz and the metrics.
// SnapshotReloadFailed reports whether the server could load the refreshed data.
func (s *Server) DatabaseRefreshed(r data.Refresh) { s.health.refreshed.Store(&r) }
