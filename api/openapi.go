package api

import (
	_ "embed"
	"net/http"

	"limnomap/api/answer"
)

// openAPIDocument describes the API for programs. A test compares it with the answers of the handlers.
//
//go:embed openapi.json
var openAPIDocument string

// describe answers with the description of the API.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) error {
	return s.sender.Send(w, r, settingsKind, answer.Prepared(s.openAPI))
}
