package cap_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A model is an element of the schema of CAP 1.2: how often it may be there, and its text or its children, in their order.
type model struct {
	name     string
	min, max int
	check    func(string) error
	children []model
}

const many = 1 << 30

func text(string) error { return nil }

func oneOf(values string) func(string) error {
	return func(s string) error {
		if !slices.Contains(strings.Fields(values), s) {
			return fmt.Errorf("%q is none of %s", s, values)
		}
		return nil
	}
}

var datePattern = regexp.MustCompile(`^\d\d\d\d-\d\d-\d\dT\d\d:\d\d:\d\d[-+]\d\d:\d\d$`)

func dateTime(s string) error {
	if !datePattern.MatchString(s) {
		return fmt.Errorf("%q is no time with an offset", s)
	}
	_, err := time.Parse(time.RFC3339, s)
	return err
}

// uriPattern is no more than the characters of a URI (RFC 3986).
var uriPattern = regexp.MustCompile(`^https?://([A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$`)

func uri(s string) error {
	if !uriPattern.MatchString(s) {
		return fmt.Errorf("%q is no URI", s)
	}
	return nil
}

func pair(name string) model {
	return model{name, 0, many, nil, []model{{"valueName", 1, 1, text, nil}, {"value", 1, 1, text, nil}}}
}

// messageModel is the schema of CAP 1.2, as far as it is about the elements that are written here: no package of Debian or npm has
// the schema itself.
var messageModel = model{"alert", 1, 1, nil, []model{
	{"identifier", 1, 1, text, nil},
	{"sender", 1, 1, text, nil},
	{"sent", 1, 1, dateTime, nil},
	{"status", 1, 1, oneOf("Actual Exercise System Test Draft"), nil},
	{"msgType", 1, 1, oneOf("Alert Update Cancel Ack Error"), nil},
	{"source", 0, 1, text, nil},
	{"scope", 1, 1, oneOf("Public Restricted Private"), nil},
	{"restriction", 0, 1, text, nil},
	{"addresses", 0, 1, text, nil},
	{"code", 0, many, text, nil},
	{"note", 0, 1, text, nil},
	{"references", 0, 1, text, nil},
	{"incidents", 0, 1, text, nil},
	{"info", 0, many, nil, []model{
		{"language", 0, 1, oneOf("en de"), nil},
		{"category", 1, many, oneOf("Geo Met Safety Security Rescue Fire Health Env Transport Infra CBRNE Other"), nil},
		{"event", 1, 1, text, nil},
		{"responseType", 0, many, oneOf("Shelter Evacuate Prepare Execute Avoid Monitor Assess AllClear None"), nil},
		{"urgency", 1, 1, oneOf("Immediate Expected Future Past Unknown"), nil},
		{"severity", 1, 1, oneOf("Extreme Severe Moderate Minor Unknown"), nil},
		{"certainty", 1, 1, oneOf("Observed Likely Possible Unlikely Unknown"), nil},
		{"audience", 0, 1, text, nil},
		pair("eventCode"),
		{"effective", 0, 1, dateTime, nil},
		{"onset", 0, 1, dateTime, nil},
		{"expires", 0, 1, dateTime, nil},
		{"senderName", 0, 1, text, nil},
		{"headline", 0, 1, text, nil},
		{"description", 0, 1, text, nil},
		{"instruction", 0, 1, text, nil},
		{"web", 0, 1, uri, nil},
		{"contact", 0, 1, text, nil},
		pair("parameter"),
		{"area", 0, many, nil, []model{
			{"areaDesc", 1, 1, text, nil},
			{"polygon", 0, many, text, nil},
			{"circle", 0, many, text, nil},
			pair("geocode"),
		}},
	}},
}}

// A node is an element of a document.
type node struct {
	name     string
	text     string
	children []*node
}

// all returns the texts of the elements at that path below n.
func (n *node) all(path ...string) (texts []string) {
	for _, child := range n.children {
		switch {
		case child.name != path[0]:
		case len(path) == 1:
			texts = append(texts, child.text)
		default:
			texts = append(texts, child.all(path[1:]...)...)
		}
	}
	return texts
}

// one returns the text of the only element at that path; empty if there is none or another.
func (n *node) one(path ...string) string {
	if texts := n.all(path...); len(texts) == 1 {
		return texts[0]
	}
	return ""
}

// parseMessage reads a well-formed document whose elements are all in the namespace of CAP 1.2 and have no attributes.
func parseMessage(content []byte) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(content))
	stack := []*node{{}}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		top := stack[len(stack)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Space != "urn:oasis:names:tc:emergency:cap:1.2" {
				return nil, fmt.Errorf("%s is in the namespace %q", t.Name.Local, t.Name.Space)
			}
			for _, a := range t.Attr {
				if a.Name.Local != "xmlns" {
					return nil, fmt.Errorf("%s has the attribute %s", t.Name.Local, a.Name.Local)
				}
			}
			n := &node{name: t.Name.Local}
			top.children = append(top.children, n)
			stack = append(stack, n)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text += string(t)
		}
	}
	if len(stack[0].children) != 1 {
		return nil, fmt.Errorf("%d roots", len(stack[0].children))
	}
	return stack[0].children[0], nil
}

// match returns an error unless n is what the model describes.
func match(n *node, m model) error {
	if n.name != m.name {
		return fmt.Errorf("element %s, want %s", n.name, m.name)
	}
	if m.check != nil {
		if len(n.children) > 0 {
			return fmt.Errorf("%s has children", n.name)
		}
		if err := m.check(n.text); err != nil {
			return fmt.Errorf("%s: %w", n.name, err)
		}
		return nil
	}
	if strings.TrimSpace(n.text) != "" {
		return fmt.Errorf("%s has the text %q", n.name, n.text)
	}
	rest := n.children
	for _, child := range m.children {
		found := 0
		for found < child.max && len(rest) > 0 && rest[0].name == child.name {
			if err := match(rest[0], child); err != nil {
				return fmt.Errorf("%s: %w", n.name, err)
			}
			rest = rest[1:]
			found++
		}
		if found < child.min {
			return fmt.Errorf("%s lacks %s", n.name, child.name)
		}
	}
	if len(rest) > 0 {
		return fmt.Errorf("%s has %s where the schema has none", n.name, rest[0].name)
	}
	return nil
}

var circlePattern = regexp.MustCompile(`^-?\d+(\.\d+)?,-?\d+(\.\d+)? \d+(\.\d+)?$`)

// checkMessage returns an error unless content is a valid message: by the schema, and by what the text of the standard says besides.
func checkMessage(content []byte) (*node, error) {
	n, err := parseMessage(content)
	if err != nil {
		return nil, err
	}
	if err := match(n, messageModel); err != nil {
		return nil, err
	}
	for _, name := range []string{"identifier", "sender"} {
		if s := n.one(name); s == "" || strings.ContainsAny(s, " ,<&") {
			return nil, fmt.Errorf("%s %q is empty or has a space, a comma, < or &", name, s)
		}
	}
	references := n.one("references")
	if (n.one("msgType") == "Cancel") != (references != "") || references != "" && len(strings.Split(references, ",")) != 3 {
		return nil, fmt.Errorf("%s with the references %q", n.one("msgType"), references)
	}
	if len(n.all("info")) == 0 {
		return nil, errors.New("no info")
	}
	for _, name := range []string{"language", "event", "headline", "senderName"} {
		if slices.Contains(n.all("info", name), "") || len(n.all("info", name)) != len(n.all("info")) {
			return nil, fmt.Errorf("an info lacks its %s", name)
		}
	}
	for _, circle := range n.all("info", "area", "circle") {
		if !circlePattern.MatchString(circle) {
			return nil, fmt.Errorf("circle %q", circle)
		}
	}
	return n, nil
}

// schemaFile names a copy of CAP-v1.2.xsd. No package of Debian or npm has it, and it must not be committed; OASIS publishes it at
// https://docs.oasis-open.org/emergency/cap/v1.2/CAP-v1.2.xsd.
const schemaFile = "LIMNOMAP_TEST_CAP_SCHEMA"

// TestSchema checks messages of every kind with messageModel. If schemaFile names a copy of the schema of OASIS, xmllint checks them with
// that too.
func TestSchema(t *testing.T) {
	var messages [][]byte
	for _, c := range everyKind() {
		messages = append(messages, message(t, c.statement, c.now))
	}
	for i := range 500 {
		c := anyStatement().Example(i)
		messages = append(messages, message(t, c.statement, c.now))
	}
	// Neither check must accept everything.
	noScope := bytes.Replace(message(t, closure(), during), []byte("<scope>Public</scope>"), nil, 1)

	for _, content := range messages {
		if _, err := checkMessage(content); err != nil {
			t.Errorf("%v\n%s", err, content)
		}
	}
	if _, err := checkMessage(noScope); err == nil {
		t.Error("a message without a scope matches messageModel")
	}

	schema := os.Getenv(schemaFile)
	if schema == "" {
		t.Logf("checked with messageModel only: %s does not name a copy of CAP-v1.2.xsd", schemaFile)
		return
	}
	t.Logf("checked with messageModel and with %s", schema)
	if out, err := xmllint(t, schema, messages...); err != nil {
		t.Errorf("xmllint: %v\n%.2000s", err, lacking(out))
	}
	if _, err := xmllint(t, schema, noScope); err == nil {
		t.Errorf("a message without a scope is valid by %s", schema)
	}
}

// xmllint validates messages with a schema and returns what the program writes.
func xmllint(t *testing.T, schema string, messages ...[]byte) ([]byte, error) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"--nonet", "--noout", "--schema", schema}
	for i, content := range messages {
		name := filepath.Join(dir, fmt.Sprintf("%05d.xml", i))
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, name)
	}
	return exec.Command("xmllint", args...).CombinedOutput()
}

// lacking returns the lines of xmllint's output about files that are not valid.
func lacking(out []byte) string {
	var lines []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasSuffix(line, " validates\n") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
