package api

import "net/http"

// docsFile is the file that shows the description of the API.
const docsFile = "/docs.html"

// viewer answers with the HTML page that shows /openapi.json.
func (s *Server) viewer(w http.ResponseWriter, r *http.Request) error {
	return s.page.send(w, r, s.page.docs)
}
