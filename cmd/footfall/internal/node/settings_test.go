package node_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"footfall/cmd/footfall/internal/config"
	"footfall/cmd/footfall/internal/node"
)

const root = "../../../.."

// defaults are the options as they are when nobody sets anything.
func defaults(t *testing.T) node.Options {
	t.Helper()
	var o node.Options
	if _, err := config.Load(node.Settings(&o), config.Sources{}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestSettingsAreWellFormed(t *testing.T) {
	name := regexp.MustCompile(`^(destinations|listeners|permissions|[a-z]+\.[a-z]+(-[a-z]+)*)$`)
	var o node.Options
	seen := map[string]bool{}
	flags := map[string]bool{}
	for _, s := range node.Settings(&o) {
		if !name.MatchString(s.Name) || seen[s.Name] || seen[s.Env()] {
			t.Errorf("%s: the name is malformed or taken", s.Name)
		}
		seen[s.Name], seen[s.Env()] = true, true
		if s.Doc == "" || !strings.HasSuffix(s.Doc, ".") || s.Form() == "" {
			t.Errorf("%s: no proper doc: %q, %q", s.Name, s.Doc, s.Form())
		}
		if s.Flag != "" && flags[s.Flag] {
			t.Errorf("%s: the flag --%s is taken", s.Name, s.Flag)
		}
		flags[s.Flag] = true
	}
}

// zeroDefaults reads the lines "def(&o.Field, value)" of an options.go: the defaults of what is zero.
func zeroDefaults(t *testing.T, path string) map[string]float64 {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 2 {
			return true
		}
		f, isName := call.Fun.(*ast.Ident)
		address, isAddress := call.Args[0].(*ast.UnaryExpr)
		_, isWord := call.Args[1].(*ast.Ident)
		if !isName || f.Name != "def" || !isAddress || isWord {
			return true
		}
		var text strings.Builder
		for _, part := range strings.Fields(types.ExprString(call.Args[1])) {
			text.WriteString(strings.NewReplacer("time.Minute", "60000000000", "time.Second", "1000000000", "time.Millisecond", "1000000").Replace(part))
		}
		result, err := types.Eval(fset, nil, token.NoPos, text.String())
		if err != nil {
			t.Fatalf("%s: %v", text.String(), err)
		}
		if kind := result.Value.Kind(); kind == constant.Int || kind == constant.Float {
			values[address.X.(*ast.SelectorExpr).Sel.Name], _ = constant.Float64Val(result.Value)
		}
		return true
	})
	return values
}

func TestDefaultsAreThoseOfThePackages(t *testing.T) {
	o := defaults(t)
	rows := []struct {
		path    string
		options any
	}{
		{root + "/broker/options.go", o.Broker},
		{root + "/server/options.go", o.Server},
		{root + "/frames/limits.go", o.Server.Limits},
	}
	// Filled from others by the node, which has one setting for both.
	copied := map[string]bool{"Broker.TransactionActions": true, "Broker.TransactionBytes": true}
	for _, row := range rows {
		value := reflect.ValueOf(row.options)
		found := zeroDefaults(t, row.path)
		if len(found) < 5 {
			t.Errorf("%s: found only %v", row.path, found)
		}
		for name, want := range found {
			field := value.FieldByName(name)
			if !field.IsValid() || row.path == rows[0].path && copied["Broker."+name] {
				continue
			}
			if got := field.Convert(reflect.TypeFor[float64]()).Float(); got != want {
				t.Errorf("%s: %s is %v where the setting is not used, and %v where it is", row.path, name, want, got)
			}
		}
	}
	if s := o.Server.Schedule; s.MaxRepeats != 1000 || s.MinPeriod != 10*time.Millisecond || s.Skew != 5*time.Second || s.Zone != "UTC" {
		t.Errorf("schedule: %+v", s)
	}
	if o.Store.CacheBytes != 16<<20 || o.Store.MemTableBytes != 16<<20 {
		t.Errorf("store: %+v", o.Store)
	}
}

func TestSettingsThatErrorsNameExist(t *testing.T) {
	var o node.Options
	known := map[string]bool{}
	for _, s := range node.Settings(&o) {
		known[s.Name] = true
	}
	named := regexp.MustCompile(`[(" ,]((?:limits|stomp|store|delivery|destinations|admin|memory|schedule)\.[a-z]+(?:-[a-z]+)*)[),"]`)
	literal := regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"")
	count := 0
	for _, dir := range []string{"frames", "broker", "server", "store", "auth"} {
		err := fs.WalkDir(os.DirFS(root+"/"+dir), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(fmt.Sprintf("%s/%s/%s", root, dir, path))
			if err != nil {
				return err
			}
			for _, quoted := range literal.FindAllString(string(text), -1) {
				for _, m := range named.FindAllStringSubmatch(quoted, -1) {
					if count++; !known[m[1]] {
						t.Errorf("%s/%s: no setting %s, in %s", dir, path, m[1], quoted)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if count < 10 {
		t.Errorf("found only %d names", count)
	}
}

func TestAddressesMustBeHostAndPort(t *testing.T) {
	for text, ok := range map[string]bool{
		"127.0.0.1:61613": true, ":0": true, "[::1]:61613": true, "localhost:65535": true,
		"": false, ",": false,
		"localhost": false, "127.0.0.1:": false, "127.0.0.1:65536": false, "127.0.0.1:http": false, "127.0.0.1:+1": false, "::1:61613": false,
		"127.0.0.1:061": false,
	} {
		var o node.Options
		_, err := config.Load(node.Settings(&o), config.Sources{Flags: map[string]config.Given{"stomp.listen": {Text: text, At: "flag"}}})
		if (err == nil) != ok {
			t.Errorf("%q: saw %v", text, err)
		}
	}
}
