package ogc

import (
	"encoding/xml"
	"net/http"

	"limnomap/api/answer"
	"limnomap/api/params"
)

// The codes of exceptions (OWS 1.1.0, table 27; WMTS 1.0.0, table 25).
const (
	codeMissing      = "MissingParameterValue"
	codeInvalid      = "InvalidParameterValue"
	codeVersion      = "VersionNegotiationFailed"
	codeNotSupported = "OperationNotSupported"
	codeOutOfRange   = "TileOutOfRange"
	// codePointOutOfRange is that of a pixel outside of its tile (WMTS 1.0.0, table 33).
	codePointOutOfRange = "PointIJOutOfRange"
)

// An exception is one thing that is wrong with a request by key and value, in the form for clients of OWS.
type exception struct {
	Code    string `xml:"exceptionCode,attr"`
	Locator string `xml:"locator,attr,omitempty"`
	Text    string `xml:"ows:ExceptionText"`
}

func (e *exception) Error() string { return e.Code + " " + e.Locator + ": " + e.Text }

// An exceptionReport is the answer with all of them.
type exceptionReport struct {
	XMLName    xml.Name    `xml:"ows:ExceptionReport"`
	OWS        string      `xml:"xmlns:ows,attr"`
	Version    string      `xml:"version,attr"`
	Lang       string      `xml:"xml:lang,attr"`
	Exceptions []exception `xml:"ows:Exception"`
}

// exceptionsOf returns the mistakes in the parameters read so far.
func exceptionsOf(p *params.Params) []exception {
	var list []exception
	for _, e := range p.Errors() {
		code := codeInvalid
		if e.Missing {
			code = codeMissing
		}
		list = append(list, exception{code, e.Parameter, e.Detail})
	}
	return list
}

// writeExceptions answers r with them. The status is always 400: an operation that is not supported is an error of the
// client too, and another status would count it as an error of the server.
func writeExceptions(w http.ResponseWriter, r *http.Request, list []exception) error {
	answer.InfoOf(r).Reason = list[0].Error()
	body, err := xml.Marshal(exceptionReport{OWS: owsNamespace, Version: "1.1.0", Lang: "en", Exceptions: list})
	if err != nil {
		return err
	}
	answer.WriteFailure(w, r, http.StatusBadRequest, answer.TypeXML, nil, append(append([]byte(xml.Header), body...), '\n'))
	return nil
}
