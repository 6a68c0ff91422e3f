package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// A page is one Markdown file of the repository.
type page struct {
	name    string // path from the root of the repository, with slashes
	blocks  []block
	links   []link
	anchors map[string]bool // the fragments of its links
}

// A block is a fenced block of code. The first word of its info string is its language. The others are marks for the tests.
type block struct {
	line     int // of its first line, from 1
	language string
	marks    []string
	text     string
	before   string // the text of the paragraph right before it, if there is one
}

func (b block) marked(mark string) bool { return slices.Contains(b.marks, mark) }

type link struct {
	line   int
	target string
	text   string // for a picture, its description
	image  bool
}

// pagesOf reads the pages that match the patterns, relative to the root of the repository, sorted by name.
func pagesOf(t *testing.T, patterns ...string) []*page {
	t.Helper()
	var pages []*page
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, parsePage(strings.TrimPrefix(filepath.ToSlash(file), "../"), source))
		}
	}
	if len(pages) == 0 {
		t.Fatalf("no page matches %q", patterns)
	}
	return pages
}

// parsePage parses Markdown as GitHub does.
func parsePage(name string, source []byte) *page {
	p := &page{name: name, anchors: make(map[string]bool)}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	line := 1 // of the last node with a position in the source
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			line = 1 + strings.Count(string(source[:n.Lines().At(0).Start]), "\n")
		}
		switch n := n.(type) {
		case *ast.Heading:
			p.anchors[freeAnchor(p.anchors, textOf(n, source))] = true
		case *ast.FencedCodeBlock:
			b := block{line: line, text: string(n.Lines().Value(source))}
			if n.Info != nil {
				if words := strings.Fields(string(n.Info.Segment.Value(source))); len(words) > 0 {
					b.language, b.marks = words[0], words[1:]
				}
			}
			if paragraph, ok := n.PreviousSibling().(*ast.Paragraph); ok {
				b.before = textOf(paragraph, source)
			}
			p.blocks = append(p.blocks, b)
		case *ast.CodeBlock:
			p.blocks = append(p.blocks, block{line: line, text: string(n.Lines().Value(source))})
		case *ast.Link:
			p.links = append(p.links, link{line: line, target: string(n.Destination)})
		case *ast.Image:
			p.links = append(p.links, link{line: line, target: string(n.Destination), text: textOf(n, source), image: true})
		case *ast.HTMLBlock:
			p.addHTML(string(n.Lines().Value(source)))
		case *ast.RawHTML:
			p.addHTML(string(n.Segments.Value(source)))
		}
		return ast.WalkContinue, nil
	})
	return p
}

var htmlAnchor = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)

func (p *page) addHTML(html string) {
	for _, m := range htmlAnchor.FindAllStringSubmatch(html, -1) {
		p.anchors[m[1]] = true
	}
}

// textOf returns the text in a node, without its markup.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		case *ast.String:
			if entering {
				b.Write(n.Value)
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// freeAnchor returns the anchor that GitHub gives a heading: letters, digits, hyphens and underscores in lower case, a hyphen
// for each space, and a number if that anchor is taken.
func freeAnchor(taken map[string]bool, heading string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
	for i, free := 1, slug; ; i++ {
		if !taken[free] {
			return free
		}
		free = slug + "-" + strconv.Itoa(i)
	}
}
