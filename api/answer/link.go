package answer

// A Link leads from one document to another.
type Link struct {
	Rel       string `json:"rel"`
	Type      string `json:"type"`
	Title     string `json:"title"`
	Href      string `json:"href"`
	Templated bool   `json:"templated,omitempty"` // Href has variables
}
