// Package integration tests Footfall as its users see it, and the repository as its
// developers do.
package integration

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// The rules of this file are those of docs/architecture.md that a program can check.

// order is the one order of imports: a package imports what has a lower number.
// Packages of the same number do not know each other.
var order = map[string]int{
	"frames": 0, "selector": 0, "schedule": 0, "auth": 0,
	"store":  1,
	"broker": 2,
	"server": 3, "admin": 3,
	"cmd":         4,
	"integration": 5,
}

// clocks are the places that may ask what time it is, or wait for it, each with its reason.
var clocks = map[string]string{
	"broker/broker.go":   "the loop reads the clock once per round, and has the one timer",
	"broker/disk.go":     "the watch over the disk",
	"store/fs.go":        "what failed on a full disk is not tried again at once",
	"store/scheduler.go": "compactions that wait are looked at now and then",
	"store/store.go":     "the clock of commit metrics, and of when a store was made",
	"store/commit.go":    "the high-water mark is written once a second",
	"server/accept.go":   "the accept loop backs off",
	"server/conn.go":     "deadlines of connections",
	"server/reader.go":   "deadlines of connections",
	"server/open.go":     "deadlines of connections",
	"server/steady.go":   "deadlines of connections",
	"server/writer.go":   "deadlines of connections, heart-beats",
	"admin/metrics.go":   "how long the process has run",
	"cmd/footfall/internal/cli/schedule_next.go": "what is due next is due after now",
	"cmd/footfall/internal/cli/dlq_change.go":    "a rate is kept by the time that a page took",
	"cmd/footfall/internal/node/auth.go":         "the rate of failed logins",
	"cmd/footfall/internal/node/certificates.go": "the files of certificates are looked at now and then",
	"cmd/footfall/internal/node/node.go":         "how long a start took, how long an end may take",
}

// doors are the places that may write to Pebble, each with its reason.
var doors = map[string]string{
	"store/commit.go": "the door",
	"store/dir.go":    "making a store: its format, before there is a door",
	"store/store.go":  "opening a store: its epoch, before there is a door",
}

// source is one file of Go.
type source struct {
	path string // from the root, with slashes
	text []byte
	file *ast.File
	fset *token.FileSet
}

// isTest tells whether a file is of a test, or of a package that only tests use: storetest, framestest.
func (s source) isTest() bool {
	return strings.HasSuffix(s.path, "_test.go") || strings.HasSuffix(s.dir(), "test")
}

// dir is the package's directory, top its first part.
func (s source) dir() string { return filepath.ToSlash(filepath.Dir(s.path)) }
func (s source) top() string { return strings.SplitN(s.path, "/", 2)[0] }

func (s source) at(n ast.Node) string {
	return s.fset.Position(n.Pos()).String()
}

// imports returns the local name and path of each import.
func (s source) imports() map[string]string {
	m := map[string]string{}
	for _, i := range s.file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		name := path[strings.LastIndex(path, "/")+1:]
		if name == "v2" || name == "v3" { // a version of a module: its name is before it
			name = filepath.Base(filepath.Dir(path))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		m[name] = path
	}
	return m
}

// walk visits the files below the root that belong to the repository.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := d.Name(); {
		case d.IsDir() && (name == "testdata" || name == "bin" || name == "data" || name == "node_modules" || name != "." && name != ".ci" && name[0] == '.'):
			return fs.SkipDir
		case d.Type().IsRegular():
			visit(path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, parse(t, path, text))
	})
	if len(list) < 10 {
		t.Fatalf("found only %d files", len(list))
	}
	return list
}

func parse(t *testing.T, path string, text []byte) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return source{path, text, file, fset}
}

// problems are what a rule found.
type problems []string

func (p *problems) add(format string, args ...any) {
	*p = append(*p, fmt.Sprintf(format, args...))
}

// rule is a rule of the repository, with a breach of it: a file that it must find.
type rule struct {
	name  string
	check func([]source) problems

	breachPath, breach string
}

var rules = []rule{
	{"imports follow the order", importOrder, "frames/x.go", `package frames; import _ "footfall/store"`},
	{"packages of one rank do not know each other", importOrder, "frames/x.go", `package frames; import _ "footfall/selector"`},
	{"every directory has its place in the order", importOrder, "stray/x.go", `package stray`},
	{"Pebble is the store's secret", pebbleSecret, "broker/x.go", `package broker; import _ "github.com/cockroachdb/pebble/v2"`},
	{"the clock is read where it may be", clockUse, "frames/x.go", `package frames; import "time"; var _ = time.Now`},
	{"tests do not sleep", noSleepNoSkip, "frames/x_test.go", `package frames; import "time"; func f() { time.Sleep(1) }`},
	{"tests do not skip", noSleepNoSkip, "frames/x_test.go", `package frames; func f(t *testing.T) { t.Skip() }`},
	{"only the door writes to Pebble", pebbleWrites, "store/x.go", `package store; import "github.com/cockroachdb/pebble/v2"; func f() { s.db.Set(nil, nil, pebble.Sync) }`},
	{"every exported function has a comment", comments, "frames/x.go", `package frames; func X() {}`},
	{"every exported method has a comment", comments, "frames/x.go", `package frames; func (x *X[T]) Y() {}`},
	{"every exported type has a comment", comments, "frames/x.go", `package frames; type X int`},
	{"every exported constant has a comment", comments, "frames/x.go", `package frames; const X = 1`},
	{"every package has a comment", packageNames, "stray/x.go", `package stray`},
	{"no package is a drawer", packageNames, "util/x.go", "// Package util.\npackage util"},
	{"files are short", fileLength, "frames/x.go", "package frames" + strings.Repeat("\n", 501)},
	{"no init functions", noGlobals, "frames/x.go", `package frames; func init() {}`},
	{"no package variables without a value", noGlobals, "frames/x.go", `package frames; var x int`},
	{"no package variables of unknown making", noGlobals, "frames/x.go", `package frames; var x = f()`},
	{"tables are not assigned", noGlobals, "frames/x.go", `package frames; var x = []int{1}; func f() { x[0] = 2 }`},
	{"tables are not shared by address", noGlobals, "frames/x.go", `package frames; var x = [1]int{1}; func f() { g(&x) }`},
	{"maps are not cleared", noGlobals, "frames/x.go", `package frames; var x = map[int]int{}; func f() { clear(x) }`},
}

func TestTheRepositoryKeepsItsRules(t *testing.T) {
	all := sources(t)
	for _, r := range rules {
		for _, problem := range r.check(all) {
			t.Errorf("%s: %s", r.name, problem)
		}
	}
}

func TestEveryRuleFindsItsBreach(t *testing.T) {
	for _, r := range rules {
		bad := parse(t, r.breachPath, []byte(r.breach))
		if found := strings.Join(r.check([]source{bad}), "\n"); !strings.Contains(found, r.breachPath) && !strings.Contains(found, bad.dir()+":") {
			t.Errorf("%s: not found in %q; found %q", r.name, r.breach, found)
		}
	}
}

func importOrder(all []source) (found problems) {
	for _, s := range all {
		rank, known := order[s.top()]
		if !known {
			found.add("%s: the directory %s has no place in the order of imports", s.path, s.top())
			continue
		}
		for _, path := range s.imports() {
			inner, ours := strings.CutPrefix(path, "footfall/")
			top := strings.SplitN(inner, "/", 2)[0]
			if ours && top != s.top() && order[top] >= rank {
				found.add("%s imports %s, against the order", s.path, path)
			}
		}
	}
	return found
}

func pebbleSecret(all []source) (found problems) {
	for _, s := range all {
		for _, path := range s.imports() {
			if strings.HasPrefix(path, "github.com/cockroachdb/pebble") && s.top() != "store" {
				found.add("%s imports %s", s.path, path)
			}
		}
	}
	return found
}

// calls visits the calls of functions and methods by name: "time.Now", "db.Set".
func (s source) calls(visit func(receiver, name string, n ast.Node)) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		switch x := selector.X.(type) {
		case *ast.Ident:
			visit(x.Name, selector.Sel.Name, n)
		case *ast.SelectorExpr:
			visit(x.Sel.Name, selector.Sel.Name, n)
		}
		return true
	})
}

func clockUse(all []source) (found problems) {
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
	seen := map[string]bool{}
	for _, s := range all {
		if s.isTest() || s.imports()["time"] != "time" {
			continue
		}
		s.calls(func(receiver, name string, n ast.Node) {
			if receiver != "time" || !slices.Contains(clock, name) {
				return
			}
			if seen[s.path] = true; clocks[s.path] == "" {
				found.add("%s: time.%s; what needs the time takes it as now, or has its place and reason in this test", s.at(n), name)
			}
		})
	}
	for place := range clocks {
		if !seen[place] {
			found.add("%s no longer looks at the clock, and need not be listed", place)
		}
	}
	return found
}

func noSleepNoSkip(all []source) (found problems) {
	for _, s := range all {
		if !s.isTest() {
			continue
		}
		// In a bubble of synctest to sleep is to advance a clock of its own.
		bubble := s.imports()["synctest"] != ""
		s.calls(func(receiver, name string, n ast.Node) {
			sleeps := receiver == "time" && name == "Sleep" && !bubble
			skips := slices.Contains([]string{"t", "b", "f", "tb"}, receiver) && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name)
			if sleeps || skips {
				found.add("%s: %s.%s in a test", s.at(n), receiver, name)
			}
		})
	}
	return found
}

func pebbleWrites(all []source) (found problems) {
	writes := []string{
		"Apply", "ApplyNoSyncWait", "Commit", "Set", "SetDeferred", "Delete", "DeleteSized", "SingleDelete", "DeleteRange", "Merge",
		"LogData", "RangeKeySet", "RangeKeyUnset", "RangeKeyDelete", "Ingest", "IngestAndExcise", "Excise",
	}
	seen := map[string]bool{}
	for _, s := range all {
		if s.top() != "store" || s.isTest() || s.imports()["pebble"] == "" {
			continue
		}
		s.calls(func(receiver, name string, n ast.Node) {
			if receiver != "db" || !slices.Contains(writes, name) {
				return
			}
			if seen[s.path] = true; doors[s.path] == "" {
				found.add("%s: %s.%s writes beside the door", s.at(n), receiver, name)
			}
		})
	}
	for place := range doors {
		if !seen[place] {
			found.add("%s no longer writes to Pebble, or this test no longer sees it", place)
		}
	}
	return found
}

func comments(all []source) (found problems) {
	for _, s := range all {
		if s.isTest() {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					found.add("%s: %s has no comment", s.at(d), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					for _, name := range undocumented(d, spec) {
						found.add("%s: %s has no comment", s.at(spec), name)
					}
				}
			}
		}
	}
	return found
}

// exportedReceiver tells whether a function can be called from another package by its
// name: it has no receiver, or one of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		exported = exported || ok && id.IsExported()
		return true
	})
	return exported
}

// undocumented returns the exported names of spec that have no comment of their own nor one of their group.
func undocumented(d *ast.GenDecl, spec ast.Spec) []string {
	var names []*ast.Ident
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Doc == nil && spec.Comment == nil {
			names = []*ast.Ident{spec.Name}
		}
	case *ast.ValueSpec:
		if spec.Doc == nil && spec.Comment == nil {
			names = spec.Names
		}
	}
	var list []string
	for _, name := range names {
		if name.IsExported() && d.Doc == nil {
			list = append(list, name.Name)
		}
	}
	return list
}

func packageNames(all []source) (found problems) {
	forbidden := []string{"util", "utils", "common", "types", "models", "model", "helper", "helpers", "misc", "base", "shared", "pkg"}
	documented := map[string]bool{}
	for _, s := range all {
		name := strings.TrimSuffix(s.file.Name.Name, "_test")
		if slices.Contains(forbidden, name) {
			found.add("%s: a package named %s says nothing", s.path, name)
		}
		if s.isTest() && !strings.HasPrefix(s.path, "integration/") {
			continue
		}
		documented[s.dir()] = documented[s.dir()] || s.file.Doc != nil
	}
	for dir, ok := range documented {
		if !ok {
			found.add("%s: no package comment", dir)
		}
	}
	return found
}

func fileLength(all []source) (found problems) {
	const most = 500
	for _, s := range all {
		if lines := bytes.Count(s.text, []byte("\n")); lines > most && !s.isTest() {
			found.add("%s has %d lines, more than %d", s.path, lines, most)
		}
	}
	return found
}

// constants are the functions whose results may stand in a package variable: they
// depend on nothing, and nobody changes what they return.
var constants = []string{"errors.New", "regexp.MustCompile", "crc32.MakeTable", "strings.NewReplacer"}

func noGlobals(all []source) (found problems) {
	places := map[string]string{} // of the variables, by directory and name
	for _, s := range all {
		if s.isTest() {
			continue
		}
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.Name == "init" {
					found.add("%s: an init function", s.at(d))
				}
			case *ast.GenDecl:
				s.variables(d, func(name *ast.Ident, value ast.Expr) {
					places[s.dir()+" "+name.Name] = s.at(name)
					if value == nil || !isConstant(value) {
						found.add("%s: the package variable %s is no constant", s.at(name), name.Name)
					}
				})
			}
		}
	}
	for _, s := range all {
		s.changes(func(id *ast.Ident) {
			local := id.Obj != nil && s.file.Scope.Lookup(id.Name) != id.Obj
			if place := places[s.dir()+" "+id.Name]; place != "" && !local {
				found.add("%s changes %s of %s", s.at(id), id.Name, place)
			}
		})
	}
	return found
}

// variables visits the package variables that d declares, with their values, nil for none. The compiler fills
// those with go:embed.
func (s source) variables(d *ast.GenDecl, visit func(*ast.Ident, ast.Expr)) {
	if d.Tok != token.VAR || d.Doc != nil && strings.Contains(commentText(d.Doc), "//go:embed") {
		return
	}
	for _, spec := range d.Specs {
		spec := spec.(*ast.ValueSpec)
		for i, name := range spec.Names {
			switch {
			case name.Name == "_":
			case i < len(spec.Values):
				visit(name, spec.Values[i])
			default:
				visit(name, nil)
			}
		}
	}
}

func commentText(group *ast.CommentGroup) string {
	var text strings.Builder
	for _, c := range group.List {
		text.WriteString(c.Text)
	}
	return text.String()
}

// isConstant tells whether an expression is a literal, a table, or made by one of constants.
func isConstant(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CompositeLit, *ast.FuncLit, *ast.BasicLit:
		return true
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.SelectorExpr); ok {
			if x, ok := f.X.(*ast.Ident); ok {
				return slices.Contains(constants, x.Name+"."+f.Sel.Name)
			}
		}
	}
	return false
}

// changes visits the names that a file assigns to, alone or an element of them, or takes the address of.
func (s source) changes(visit func(*ast.Ident)) {
	root := func(e ast.Expr) {
		for {
			switch x := e.(type) {
			case *ast.IndexExpr:
				e = x.X
			case *ast.Ident:
				visit(x)
				return
			default:
				return
			}
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if n.Tok != token.DEFINE {
					root(left)
				}
			}
		case *ast.IncDecStmt:
			root(n.X)
		case *ast.UnaryExpr:
			if id, ok := n.X.(*ast.Ident); ok && n.Op == token.AND {
				visit(id)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") && len(n.Args) > 0 {
				root(n.Args[0])
			}
		}
		return true
	})
}

func TestNothingNamesTheMachineItWasWrittenOn(t *testing.T) {
	forbidden := []string{"/" + "work/", "/" + "root/", "/tmp/" + "brief", "behaviour.md" + " section"}
	walk(t, func(path string) {
		text, err := os.ReadFile(filepath.Join("..", path))
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(text) {
			return
		}
		for number, line := range strings.Split(string(text), "\n") {
			for _, word := range forbidden {
				if strings.Contains(line, word) {
					t.Errorf("%s:%d: names %s", path, number+1, word)
				}
			}
		}
	})
}
