package api

// lakeHandlers answer requests about lakes.
type lakeHandlers struct {
	*snapshots
	historian   Historian
	monitorPath string // of the list of monitored lakes, for its links
}
