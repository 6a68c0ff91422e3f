package api

import (
	"encoding/xml"
	"net/http"

	"limnomap/api/answer"
)

// The codes of exceptions (OWS 1.1.0, table 27; WMTS 1.0.0, table 25).
const (
	owsMissing      = "MissingParameterValue"
	owsInvalid      = "InvalidParameterValue"
	owsVersion      = "VersionNegotiationFailed"
	owsNotSupported = "OperationNotSupported"
	owsOutOfRange   = "TileOutOfRange"
)

// An owsException is one thing that is wrong with a request by key and value, as clients of OWS are told.
type owsException struct {
	Code    string `xml:"exceptionCode,attr"`
	Locator string `xml:"locator,attr,omitempty"`
	Text    string `xml:"ows:ExceptionText"`
}

func (e *owsException) Error() string { return e.Code + " " + e.Locator + ": " + e.Text }

// An owsReport is the answer that tells of them.
type owsReport struct {
	XMLName    xml.Name       `xml:"ows:ExceptionReport"`
	OWS        string         `xml:"xmlns:ows,attr"`
	Version    string         `xml:"version,attr"`
	Lang       string         `xml:"xml:lang,attr"`
	Exceptions []owsException `xml:"ows:Exception"`
}

// exceptionsOf returns what was wrong with the parameters read so far.
func exceptionsOf(p *params) []owsException {
	var list []owsException
	for _, e := range p.errs {
		code := owsInvalid
		if e.Missing {
			code = owsMissing
		}
		list = append(list, owsException{code, e.Parameter, e.Detail})
	}
	return list
}

// writeExceptions answers r with them. The status is 400 for each: an operation that is not supported is the client's
// mistake too, and would otherwise be counted among the server's.
func writeExceptions(w http.ResponseWriter, r *http.Request, list []owsException) error {
	body, err := xml.Marshal(owsReport{OWS: owsNamespace, Version: "1.1.0", Lang: "en", Exceptions: list})
	if err != nil {
		return err
	}
	answer.WriteFailure(w, r, http.StatusBadRequest, answer.TypeXML, nil, append(append([]byte(xml.Header), body...), '\n'))
	return nil
}
