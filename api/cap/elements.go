package cap

import "encoding/xml"

// The elements of a message (CAP 1.2, section 3.2), each with its children in the order of the schema. encoding/xml
// escapes the values.

const capNamespace = "urn:oasis:names:tc:emergency:cap:1.2"

type alert struct {
	XMLName    xml.Name `xml:"alert"`
	Namespace  string   `xml:"xmlns,attr"`
	Identifier string   `xml:"identifier"`
	Sender     string   `xml:"sender"`
	Sent       string   `xml:"sent"`
	Status     string   `xml:"status"`
	MsgType    string   `xml:"msgType"`
	Scope      string   `xml:"scope"`
	Note       string   `xml:"note,omitempty"`
	References string   `xml:"references,omitempty"`
	Infos      []info   `xml:"info"`
}

type info struct {
	Language     string       `xml:"language"`
	Categories   []string     `xml:"category"`
	Event        string       `xml:"event"`
	ResponseType string       `xml:"responseType"`
	Urgency      string       `xml:"urgency"`
	Severity     string       `xml:"severity"`
	Certainty    string       `xml:"certainty"`
	Onset        string       `xml:"onset"`
	Expires      string       `xml:"expires,omitempty"`
	SenderName   string       `xml:"senderName"`
	Headline     string       `xml:"headline"`
	Description  string       `xml:"description,omitempty"`
	Web          string       `xml:"web,omitempty"`
	Parameters   []namedValue `xml:"parameter"`
	Area         area         `xml:"area"`
}

type area struct {
	Description string     `xml:"areaDesc"`
	Circle      string     `xml:"circle"`
	Geocode     namedValue `xml:"geocode"`
}

type namedValue struct {
	Name  string `xml:"valueName"`
	Value string `xml:"value"`
}
