package api

import "net/http"

// docsFile is the page that shows the description of the interface, among the page's files.
const docsFile = "/docs.html"

// viewer answers with the page that shows /openapi.json.
func (s *Server) viewer(w http.ResponseWriter, r *http.Request) error {
	return s.page.send(w, r, s.page.docs)
}
