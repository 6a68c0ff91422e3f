package forecast

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A compiler may fuse x*y + z into one operation, which rounds once, even if the product was assigned to a variable. Only a conversion
// forbids it. So each product stands in float64(), or is an operand of another product or of a quotient.
func TestNoFusedProducts(t *testing.T) {
	for _, dir := range []string{".", "exact", "backtest"} {
		for _, p := range fusible(t, sources(t, dir)...) {
			t.Errorf("%s: a product outside of float64()", p)
		}
	}
}

type file struct{ name, source string }

// sources returns the files of a package that are not tests.
func sources(t *testing.T, dir string) (files []file) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || names == nil {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "_test.go") {
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file{name, string(source)})
		}
	}
	return files
}

// fusible returns where floating-point products are neither converted nor multiplied or divided further.
func fusible(t *testing.T, sources ...file) (places []string) {
	t.Helper()
	fset := token.NewFileSet()
	var files []*ast.File
	for _, s := range sources {
		f, err := parser.ParseFile(fset, s.name, s.source, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	if build.Default.GOROOT == "" { // a binary that was built with -trimpath does not know it
		root, err := exec.Command("go", "env", "GOROOT").Output()
		if err != nil {
			t.Fatal(err)
		}
		build.Default.GOROOT = strings.TrimSpace(string(root))
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := conf.Check("p", fset, files, info); err != nil {
		t.Fatal(err)
	}
	rounded := func(e ast.Expr) bool { // integers and constants
		tv := info.Types[e]
		b, ok := tv.Type.Underlying().(*types.Basic)
		return tv.Value != nil || ok && b.Info()&types.IsInteger != 0
	}
	for _, f := range files {
		var parents []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				parents = parents[:len(parents)-1]
				return true
			}
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok == token.MUL_ASSIGN && !rounded(n.Lhs[0]) {
					places = append(places, fset.Position(n.Pos()).String())
				}
			case *ast.BinaryExpr:
				if n.Op == token.MUL && !rounded(n) {
					i := len(parents) - 1
					for ; ; i-- {
						if _, ok := parents[i].(*ast.ParenExpr); !ok {
							break
						}
					}
					ok := false
					switch p := parents[i].(type) {
					case *ast.BinaryExpr:
						ok = p.Op == token.MUL || p.Op == token.QUO
					case *ast.CallExpr:
						name, isName := p.Fun.(*ast.Ident)
						ok = isName && name.Name == "float64"
					}
					if !ok {
						places = append(places, fset.Position(n.Pos()).String())
					}
				}
			}
			parents = append(parents, n)
			return true
		})
	}
	return places
}
