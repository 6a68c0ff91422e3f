package cap_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A readMessage is what a consumer reads. The order of the elements is that of the files in testdata.
type readMessage struct {
	XMLName    xml.Name   `xml:"urn:oasis:names:tc:emergency:cap:1.2 alert"`
	Identifier string     `xml:"identifier"`
	Sender     string     `xml:"sender"`
	Sent       string     `xml:"sent"`
	Status     string     `xml:"status"`
	MsgType    string     `xml:"msgType"`
	Scope      string     `xml:"scope"`
	References string     `xml:"references"`
	Infos      []readInfo `xml:"info"`
}

type readInfo struct {
	Language     string   `xml:"language"`
	Categories   []string `xml:"category"`
	Event        string   `xml:"event"`
	ResponseType string   `xml:"responseType"`
	Urgency      string   `xml:"urgency"`
	Severity     string   `xml:"severity"`
	Certainty    string   `xml:"certainty"`
	Onset        string   `xml:"onset"`
	Expires      *string  `xml:"expires"`
	SenderName   string   `xml:"senderName"`
	Headline     string   `xml:"headline"`
	Description  *string  `xml:"description"`
	Web          *string  `xml:"web"`
	Area         struct {
		Description string `xml:"areaDesc"`
		Circle      string `xml:"circle"`
	} `xml:"area"`
}

// The forms of values: of times, of words that references are made of, and of URIs no more than their characters (RFC 3986).
const (
	timeForm   = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[-+]\d\d:\d\d`
	wordForm   = `[^ ,<&]+`
	uriForm    = `https?://([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+`
	circleForm = `-?\d+(\.\d+)?,-?\d+(\.\d+)? \d+(\.\d+)?`
)

// checkMessage reads a message. It returns an error unless each value has a form that the standard allows.
func checkMessage(content []byte) (*readMessage, error) {
	var m readMessage
	if err := xml.Unmarshal(content, &m); err != nil {
		return nil, err
	}
	type value struct{ name, value, form string }
	values := []value{
		{"identifier", m.Identifier, wordForm}, {"sender", m.Sender, wordForm}, {"sent", m.Sent, timeForm}, {"status", m.Status, "Actual|Test"},
		{"msgType with references", m.MsgType + " " + m.References, "Alert |Cancel " + wordForm + "," + wordForm + "," + timeForm}, {"scope", m.Scope, "Public"},
	}
	if len(m.Infos) == 0 {
		return nil, errors.New("no info")
	}
	for _, i := range m.Infos {
		values = append(values, value{"language", i.Language, "en|de"}, value{"categories", strings.Join(i.Categories, " "), "(Health|Env|Other)( Env)?"},
			value{"event", i.Event, ".+"}, value{"responseType", i.ResponseType, "Avoid|Monitor|None"},
			value{"urgency", i.Urgency, "Immediate|Expected|Future|Past|Unknown"}, value{"severity", i.Severity, "Moderate|Minor"},
			value{"certainty", i.Certainty, "Observed|Likely"}, value{"onset", i.Onset, timeForm}, value{"senderName", i.SenderName, ".+"},
			value{"headline", i.Headline, ".+"}, value{"areaDesc", i.Area.Description, ".+"}, value{"circle", i.Area.Circle, circleForm})
		if i.Expires != nil {
			values = append(values, value{"expires", *i.Expires, timeForm})
		}
		if i.Web != nil {
			values = append(values, value{"web", *i.Web, uriForm})
		}
	}
	for _, v := range values {
		if !regexp.MustCompile("^(?s:" + v.form + ")$").MatchString(v.value) {
			return nil, fmt.Errorf("%s is %q", v.name, v.value)
		}
	}
	return &m, nil
}

// schemaFile names a copy of CAP-v1.2.xsd. No package of Debian or npm has it, and it must not be committed; OASIS publishes it at
// https://docs.oasis-open.org/emergency/cap/v1.2/CAP-v1.2.xsd.
const schemaFile = "LIMNOMAP_TEST_CAP_SCHEMA"

// If schemaFile names a copy of the schema of OASIS, xmllint checks messages of every kind with it.
func TestSchema(t *testing.T) {
	schema := os.Getenv(schemaFile)
	if schema == "" {
		t.Logf("%s does not name a copy of CAP-v1.2.xsd", schemaFile)
		return
	}
	dir := t.TempDir()
	args := []string{"--nonet", "--noout", "--schema", schema}
	add := func(content []byte) {
		name := filepath.Join(dir, fmt.Sprintf("%05d.xml", len(args)))
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	for _, c := range everyKind() {
		add(message(t, c.statement, c.now))
	}
	for i := range 500 {
		c := anyStatement().Example(i)
		add(message(t, c.statement, c.now))
	}
	if out, err := exec.Command("xmllint", args...).CombinedOutput(); err != nil {
		t.Errorf("xmllint: %v\n%.2000s", err, regexp.MustCompile(`(?m)^.* validates\n`).ReplaceAll(out, nil))
	}
}
