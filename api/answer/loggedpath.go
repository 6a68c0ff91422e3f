package answer

import (
	"net/http"
	"strings"
)

const (
	// MaxLoggedPath is how much of a path is logged.
	MaxLoggedPath = 1024
	// secretPaths has one path for each subscription to notifications. Whoever knows its id can delete it, and the log has the address of
	// the client beside it.
	secretPaths = "/api/v1/push/subscriptions/"
)

// LoggedPath returns the path of r for the log: cut at MaxLoggedPath, and without the id of a subscription.
func LoggedPath(r *http.Request) string {
	path := r.URL.Path
	if before, _, found := strings.Cut(path, secretPaths); found { // below any base path, also if there is no such route
		path = before + secretPaths + "…"
	}
	return path[:min(len(path), MaxLoggedPath)]
}
