package features

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// pageHead begins each page.
const pageHead = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}}</title>
<h1>{{.Title}}</h1>
{{with .Notice}}<p><strong>{{.}}</strong></p>
{{end}}`

// documentTemplate shows any document of JSON as nested lists, without scripts.
var documentTemplate = template.Must(template.New("document").Parse(pageHead + `{{template "value" .Root}}
</html>
{{define "value"}}{{if .Members}}<dl>
{{range .Members}}<dt>{{.Name}}</dt><dd>{{template "value" .Value}}</dd>
{{end}}</dl>{{else if .Href}}<a href="{{.Href}}">{{.Text}}</a>{{else}}{{.Text}}{{end}}{{end}}`))

// A node is a value of JSON for the template.
type node struct {
	Text, Href string
	Members    []member
}

type member struct {
	Name  string
	Value node
}

// Page returns a document of JSON as a page, in which addresses are links. The notice says that the data are not real, if they are not.
func Page(title, notice string, content []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(content))
	d.UseNumber()
	root, err := nodeOf(d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = documentTemplate.Execute(&b, map[string]any{"Title": title, "Notice": notice, "Root": root})
	return b.Bytes(), err
}

// nodeOf reads the next value, with its members in their order.
func nodeOf(d *json.Decoder) (n node, err error) {
	token, err := d.Token()
	if err != nil {
		return n, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		if token == nil {
			return node{Text: "–"}, nil
		}
		n.Text = fmt.Sprint(token)
		if strings.HasPrefix(n.Text, "/") || strings.HasPrefix(n.Text, "http://") || strings.HasPrefix(n.Text, "https://") {
			n.Href = n.Text
		}
		return n, nil
	}
	for i := 1; d.More(); i++ {
		m := member{Name: fmt.Sprint(i)}
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return n, err
			}
			m.Name = fmt.Sprint(name)
		}
		if m.Value, err = nodeOf(d); err != nil {
			return n, err
		}
		n.Members = append(n.Members, m)
	}
	if _, err = d.Token(); err != nil { // the closing bracket
		return n, err
	}
	title, href := n.text("title"), n.text("href")
	switch {
	case len(n.Members) == 0:
		n.Text = "–"
	case title != "" && href != "": // a link between documents
		return node{Text: title, Href: href}, nil
	}
	return n, nil
}

// text returns the text of a member, empty if there is none.
func (n *node) text(name string) string {
	for _, m := range n.Members {
		if m.Name == name {
			return m.Value.Text
		}
	}
	return ""
}

// cellsOf returns the cells of a line of a table.
func cellsOf(line []byte) ([]string, error) {
	cells, err := csv.NewReader(bytes.NewReader(line)).Read()
	if err == io.EOF { // one cell, which is empty
		return []string{""}, nil
	}
	return cells, err
}
