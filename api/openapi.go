package api

import (
	_ "embed"
	"net/http"
)

// openAPIDocument describes the API to programs. A test holds it against what the handlers answer.
//
//go:embed openapi.json
var openAPIDocument string

// describe answers with the description of the API.
func (s *Server) describe(w http.ResponseWriter, r *http.Request) error { return s.openAPI.send(w, r) }
