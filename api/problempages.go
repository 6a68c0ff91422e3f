package api

import (
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/errorpage"
	"limnomap/api/pages"
)

// problemPages returns what makes a problem a page, for people.
func problemPages(opts *Options, prefix string) (answer.ProblemPage, error) {
	maker, err := errorpage.New(opts.Templates, prefix+"/")
	if err != nil {
		return nil, err
	}
	return func(r *http.Request, p *answer.Problem) (content []byte, language string, err error) {
		e := errorpage.Error{Status: p.Status, Phrase: http.StatusText(p.Status), Detail: p.Detail}
		for _, mistake := range p.Errors {
			e.Mistakes = append(e.Mistakes, errorpage.Mistake{Parameter: mistake.Parameter, Detail: mistake.Detail})
		}
		if p.Status >= http.StatusInternalServerError {
			e.RequestID = answer.RequestID(r)
		}
		return maker.Page(e, &pages.Reader{Language: r.URL.Query().Get("lang"), AcceptLanguage: r.Header["Accept-Language"]})
	}, nil
}
