package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"footfall/cmd/footfall/internal/config"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// choices are the variables that the tests' settings fill.
type choices struct {
	listen   []string
	dir      string
	level    string
	passcode string
	colour   bool
	window   int
	limit    int64
	memory   int64
	timeout  time.Duration
	rules    []config.Item[rule]
}

// rule is an item of a list of mappings.
type rule struct {
	name string
	most int
	kind string
}

func rules(at *[]config.Item[rule]) config.Setting {
	return config.Entries(at, "rules", "What is ruled.", func(r *rule) []config.Setting {
		return []config.Setting{
			config.Text(&r.name, "name", "", "text", "Whom.", nil),
			config.Number(&r.most, "most", "", config.Bounds{Min: 1, Max: 9}, "How many."),
			config.Choice(&r.kind, "kind", "", "Which.", "good", "bad"),
		}
	}, func(items []config.Item[rule]) (list []config.Complaint) {
		for i := range items {
			switch items[i].Of.name {
			case "":
				list = append(list, config.Complaint{Item: i, Key: "name", Err: errors.New("must not be empty")})
			case "nobody":
				list = append(list, config.Complaint{Item: i, Err: errors.New("is for nobody")})
			}
		}
		return list
	})
}

func settings(c *choices) []config.Setting {
	return []config.Setting{
		config.List(&c.listen, "stomp.listen", "127.0.0.1:61613", "host:port", "Where clients connect.", func(text string) error {
			if !strings.Contains(text, ":") {
				return errors.New("must be host:port")
			}
			return nil
		}).OnFlag("stomp"),
		config.Text(&c.dir, "data.dir", "./data", "path", "Where messages are.", nil).OnFlag("data"),
		config.Choice(&c.level, "log.level", "info", "How much is told.", "debug", "info", "warn"),
		config.Text(&c.passcode, "stomp.passcode", "", "text", "A secret.", nil).AsSecret(),
		config.Switch(&c.colour, "log.colour", "false", "Colours."),
		config.Number(&c.window, "broker.window", "1000", config.Bounds{Min: 1, Max: 100_000}, "Deliveries."),
		config.Number(&c.limit, "broker.limit", "none", config.Bounds{Min: 1, None: true}, "Queues."),
		config.Size(&c.memory, "broker.memory-bytes", "256MiB", config.Bounds{Min: 1 << 20, None: true}, "Octets."),
		config.Duration(&c.timeout, "broker.block-timeout", "30s", config.Bounds{Max: int64(time.Hour)}, "Time."),
		rules(&c.rules),
	}
}

// file writes a file and returns its path.
func file(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func origins(values []config.Value) map[string]string {
	m := map[string]string{}
	for _, v := range values {
		m[v.Name] = v.Text() + " <- " + string(v.Origin)
	}
	return m
}

func TestFlagOverEnvironmentOverFileOverDefault(t *testing.T) {
	path := file(t, "data:\n  dir: from-file\nlog:\n  level: warn\nbroker:\n  window: 7\n")
	var c choices
	values, err := config.Load(settings(&c), config.Sources{
		Flags: map[string]config.Given{"data.dir": {Text: "from-flag", At: "flag --data"}},
		Env:   []string{"FOOTFALL_DATA_DIR=from-env", "FOOTFALL_LOG_LEVEL=debug", "HOME=/", "FOOTFALL_STOMP_PASSCODE=x"},
		File:  path,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"stomp.listen":         "127.0.0.1:61613 <- default",
		"data.dir":             "from-flag <- flag --data",
		"log.level":            "debug <- env FOOTFALL_LOG_LEVEL",
		"stomp.passcode":       "(secret) <- env FOOTFALL_STOMP_PASSCODE",
		"log.colour":           "false <- default",
		"broker.window":        "7 <- " + path + ":6:11",
		"broker.limit":         "none <- default",
		"broker.memory-bytes":  "256MiB <- default",
		"broker.block-timeout": "30s <- default",
		"rules":                "none <- default",
	}
	if diff := cmp.Diff(want, origins(values)); diff != "" {
		t.Error(diff)
	}
	wantChoices := choices{
		listen: []string{"127.0.0.1:61613"}, dir: "from-flag", level: "debug", passcode: "x",
		window: 7, limit: -1, memory: 256 << 20, timeout: 30 * time.Second,
	}
	if diff := cmp.Diff(wantChoices, c, cmp.AllowUnexported(choices{})); diff != "" {
		t.Error(diff)
	}
}

func TestFileTakesListsAndUnits(t *testing.T) {
	path := file(t, `# all of it
data:
  # dir: x
stomp:
  listen: [ "127.0.0.1:1", "[::1]:2" ]
log:
  colour: true
broker:
  memory-bytes: none
  limit: 5
  block-timeout: 1h
`)
	var c choices
	if _, err := config.Load(settings(&c), config.Sources{File: path}); err != nil {
		t.Fatal(err)
	}
	want := choices{
		listen: []string{"127.0.0.1:1", "[::1]:2"}, dir: "./data", level: "info", colour: true,
		window: 1000, limit: 5, memory: -1, timeout: time.Hour,
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(choices{})); diff != "" {
		t.Error(diff)
	}
}

func TestFileErrorsNameLineColumnAndRemedy(t *testing.T) {
	rows := []struct{ name, text, want string }{
		{"unknown key", "log:\n  levle: info\n", ":2:3: log.levle: no such setting; did you mean log.level?"},
		{"unknown section", "brokr:\n  window: 1\n", ":1:1: brokr: no such setting"},
		{"nothing close", "zzzzzzzzzzzz: 1\n", ":1:1: zzzzzzzzzzzz: no such setting\n"},
		{"duplicate", "log:\n  level: info\n  level: warn\n", ":3:3: log.level: set twice, first in line 2"},
		{"duplicate section", "log:\n  level: info\nlog:\n  colour: true\n", ":3:1: log: set twice, first in line 1"},
		{"duplicate by a dotted name", "log.level: info\nlog:\n  level: warn\n", ":3:10: log.level: set twice, first at "},
		{"no number", "broker:\n  window: many\n", `:2:11: broker.window: must be a whole number, in digits; it is "many"`},
		{"quoted number", "broker:\n  window: \"7\"\n", ":2:11: broker.window: must be a whole number"},
		{"fraction", "broker:\n  window: 1.5\n", ":2:11: broker.window: must be a whole number"},
		{"octal", "broker:\n  window: 010\n", ":2:11: broker.window: must be a whole number"},
		{"out of range", "broker:\n  window: 0\n", `:2:11: broker.window: must be 1 to 100000; it is "0"`},
		{"beyond 64 bits", "broker:\n  limit: 99999999999999999999\n", ":2:10: broker.limit: too large"},
		{"no unit", "broker:\n  memory-bytes: 5\n", ":2:17: broker.memory-bytes: needs a unit: 5B, 5KiB, 5MiB"},
		{"bad unit", "broker:\n  memory-bytes: 5M\n", `:2:17: broker.memory-bytes: has no unit "M"`},
		{"too small", "broker:\n  memory-bytes: 5B\n", ":2:17: broker.memory-bytes: must be at least 1MiB, or none"},
		{"duration without unit", "broker:\n  block-timeout: 30\n", ":2:18: broker.block-timeout: must be a duration"},
		{"duration too long", "broker:\n  block-timeout: 2h\n", ":2:18: broker.block-timeout: must be 0s to 1h"},
		{"no switch", "log:\n  colour: maybe\n", ":2:11: log.colour: must be true or false"},
		{"no choice", "log:\n  level: loud\n", ":2:10: log.level: must be one of debug, info, warn"},
		{"text from bool", "data:\n  dir: true\n", ":2:8: data.dir: must be a text"},
		{"null", "data:\n  dir:\n", ":2:7: data.dir: has no value"},
		{"list for text", "data:\n  dir: [a]\n", ":2:8: data.dir: must be a path"},
		{"mapping for text", "data:\n  dir: {a: b}\n", ":2:8: data.dir: must be a path"},
		{"mapping in a list", "stomp:\n  listen: [{a: b}]\n", ":2:12: stomp.listen: an item of the list"},
		{"bad item", "stomp:\n  listen: [a]\n", ":2:11: stomp.listen: must be host:port"},
		{"text for a section", "log: info\n", ":1:6: log: must be a section of settings"},
		{"list at the top", "- a\n", ":1:1: must be a section of settings"},
		{"anchor", "log: &a\n  level: info\n", ":1:6: log: anchors and aliases are not supported"},
		{"alias", "data: {dir: &a x}\nlog: {level: *a}\n", ":2:14: log.level: anchors and aliases are not supported"},
		{"tag", "data:\n  dir: !!str x\n", ":2:8: data.dir: tags are not supported"},
		{"merge", "<<: {a: b}\n", ":1:1: <<: no such setting"},
		{"two documents", "data: {dir: a}\n---\ndata: {dir: b}\n", ":2:1: a second document"},
		{"scalar for entries", "rules: x\n", `:1:8: rules: must be a list of mappings, each with a line "- name: ..."`},
		{"mapping for entries", "rules: {name: x}\n", ":1:8: rules: must be a list of mappings"},
		{"scalar for an entry", "rules:\n- x\n", `:2:3: rules[0]: must be a mapping, with a line "name: ..."`},
		{"unknown key", "rules:\n- name: x\n  mots: 1\n", ":3:3: rules[0].mots: no such setting; did you mean rules[0].most?"},
		{"duplicate key", "rules:\n- name: x\n  name: y\n", ":3:3: rules[0].name: set twice, first in line 2"},
		{"missing first key", "rules:\n- name: x\n- most: 1\n", ":3:3: rules[1]: has no name"},
		{"bad value in an entry", "rules:\n- name: x\n  most: 10\n", `:3:9: rules[0].most: must be 1 to 9; it is "10"`},
		{"bad type in an entry", "rules:\n- name: x\n  most: \"1\"\n", ":3:9: rules[0].most: must be a whole number"},
		{"complaint about a key", "rules:\n- {most: 1, name: \"\"}\n", ":2:19: rules[0].name: must not be empty"},
		{"complaint about an entry", "rules:\n- name: x\n- name: nobody\n", ":3:3: rules[1]: is for nobody"},
		{"alias in entries", "rules:\n- &a {name: x}\n- *a\n", ":2:3: rules[0]: anchors and aliases are not supported"},
		{"dotted key of an entry", "rules[0].name: x\n", ":1:1: rules[0].name: no such setting"},
		{"no YAML", "log:\n\tlevel: info\n", ":2:1: not YAML"},
		{"no UTF-8", "log: \xff\n", ":1:1: not YAML"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			path := file(t, row.text)
			var c choices
			_, err := config.Load(settings(&c), config.Sources{File: path})
			if err == nil || !strings.Contains(err.Error()+"\n", path+row.want) {
				t.Fatalf("expected %q; saw %v", path+row.want, err)
			}
		})
	}
}

func TestAllErrorsOfAFileAreTold(t *testing.T) {
	path := file(t, "log: {levle: info}\nbroker: {window: x}\ndata: {dir: a}\n")
	var c choices
	_, err := config.Load(settings(&c), config.Sources{File: path, Env: []string{"FOOTFALL_BROKER_LIMIT=-4"}})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Fatalf("expected three errors; saw %v", err)
	}
}

func TestOverriddenValuesMustMakeSenseToo(t *testing.T) {
	var c choices
	_, err := config.Load(settings(&c), config.Sources{
		File: file(t, "broker: {block-timeout: soon}\n"),
		Env:  []string{"FOOTFALL_BROKER_BLOCK_TIMEOUT=5s"},
	})
	if err == nil || !strings.Contains(err.Error(), "must be a duration") {
		t.Fatalf("saw %v", err)
	}
}

func TestMissingAndOversizedFilesAreErrors(t *testing.T) {
	var c choices
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), file(t, strings.Repeat("#", config.MaxFile+1)), t.TempDir()} {
		if _, err := config.Load(settings(&c), config.Sources{File: path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: saw %v", path, err)
		}
	}
	if _, err := config.Load(settings(&c), config.Sources{File: file(t, strings.Repeat("#", config.MaxFile))}); err != nil {
		t.Errorf("a file of the greatest size: %v", err)
	}
	if _, err := config.Load(settings(&c), config.Sources{File: file(t, "")}); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}

func TestEnvironmentErrors(t *testing.T) {
	secret := file(t, "hush\n")
	rows := []struct {
		env  []string
		want string // empty: no error
	}{
		{[]string{"FOOTFALL_DATA_DIRR=x"}, "env FOOTFALL_DATA_DIRR: no such setting; did you mean FOOTFALL_DATA_DIR?"},
		{[]string{"FOOTFALL_QQQQQQQQQQ=x"}, "env FOOTFALL_QQQQQQQQQQ: no such setting"},
		{[]string{"FOOTFALL_DATA_DIR=a", "FOOTFALL_DATA_DIR_FILE=" + secret}, "env FOOTFALL_DATA_DIR_FILE: data.dir: set twice, also by env FOOTFALL_DATA_DIR"},
		{[]string{"FOOTFALL_STOMP_PASSCODE_FILE=/nonexistent"}, "env FOOTFALL_STOMP_PASSCODE_FILE: stomp.passcode: open /nonexistent"},
		{[]string{"FOOTFALL_BROKER_WINDOW=-1"}, `env FOOTFALL_BROKER_WINDOW: broker.window: must be a whole number, in digits; it is "-1"`},
		{[]string{"FOOTFALL_URL=x"}, ""},
		{[]string{"footfall_data_dir=x", "FOOTFALLX=y"}, ""},
		// A Kubernetes service named footfall, and one named footfall-admin.
		{[]string{"FOOTFALL_SERVICE_HOST=10.0.0.1", "FOOTFALL_SERVICE_PORT=61613", "FOOTFALL_SERVICE_PORT_STOMP=61613"}, ""},
		{[]string{"FOOTFALL_PORT=tcp://10.0.0.1:61613", "FOOTFALL_PORT_61613_TCP=x", "FOOTFALL_PORT_61613_TCP_ADDR=x"}, ""},
		{[]string{"FOOTFALL_ADMIN_SERVICE_HOST=x", "FOOTFALL_ADMIN_PORT=x", "FOOTFALL_ADMIN_PORT_80_TCP_PROTO=tcp"}, ""},
	}
	for _, row := range rows {
		var c choices
		_, err := config.Load(settings(&c), config.Sources{Env: row.env, Known: []string{"FOOTFALL_URL"}})
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.HasPrefix(err.Error(), row.want)) {
			t.Errorf("%q: expected %q; saw %v", row.env, row.want, err)
		}
	}
}

func TestFileSuffixReadsTheValueFromAFile(t *testing.T) {
	var c choices
	_, err := config.Load(settings(&c), config.Sources{Env: []string{"FOOTFALL_STOMP_PASSCODE_FILE=" + file(t, " hush \n")}})
	if err != nil || c.passcode != " hush " {
		t.Fatalf("saw %q, %v", c.passcode, err)
	}
}

func TestSecretsAreNotInErrors(t *testing.T) {
	var c choices
	list := []config.Setting{config.Text(&c.passcode, "stomp.passcode", "", "text", "A secret.", func(text string) error {
		if text != "" {
			return errors.New("is wrong")
		}
		return nil
	}).AsSecret()}
	_, err := config.Load(list, config.Sources{Env: []string{"FOOTFALL_STOMP_PASSCODE=hush"}})
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Fatalf("saw %v", err)
	}
}

func TestSizesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var n, again int64
		for _, unit := range []int64{1, 1 << 10, 1 << 20, 1 << 30, 1e3, 1e6} {
			size := rapid.Int64Range(0, 1<<62/unit).Draw(t, "n") * unit
			s := config.Size(&n, "a.b", "1B", config.Bounds{}, "")
			n = size
			value, err := config.Load([]config.Setting{config.Size(&again, "a.b", "1B", config.Bounds{}, "")}, config.Sources{
				Flags: map[string]config.Given{"a.b": {Text: config.Value{Setting: &s}.Text(), At: "flag"}},
			})
			if err != nil || again != size {
				t.Fatalf("%d: %v %v", size, value, err)
			}
		}
	})
}

func TestEntriesAreMappingsWithTheirOrigins(t *testing.T) {
	path := file(t, "rules:\n- name: a\n  most: 2\n# nothing\n- {kind: bad, name: b}\n")
	var c choices
	values, err := config.Load(settings(&c), config.Sources{File: path})
	if err != nil {
		t.Fatal(err)
	}
	want := []rule{{name: "a", most: 2}, {name: "b", kind: "bad"}}
	if diff := cmp.Diff(want, []rule{c.rules[0].Of, c.rules[1].Of}, cmp.AllowUnexported(rule{})); diff != "" {
		t.Error(diff)
	}
	saw := origins(values[len(values)-5:])
	told := map[string]string{
		"rules":         "2 entries <- " + path + ":2:1",
		"rules[0].name": "a <- " + path + ":2:9",
		"rules[0].most": "2 <- " + path + ":3:9",
		"rules[1].name": "b <- " + path + ":5:21",
		"rules[1].kind": "bad <- " + path + ":5:10",
	}
	if diff := cmp.Diff(told, saw); diff != "" {
		t.Error(diff)
	}
	if at := c.rules[1].Origin("most"); at != config.Origin(path+":5:3") {
		t.Errorf("a key that is not there stands at %s", at)
	}
	if env := values[len(values)-1].Env(); env != "" {
		t.Errorf("a part of a list has the variable %s", env)
	}
}

func TestEntriesInTheEnvironmentAreYAML(t *testing.T) {
	path := file(t, "rules:\n- name: a\n")
	rows := []struct {
		text, names, wrong string
	}{
		{"none", "", ""},
		{"[]", "", ""},
		{"", "", ""},
		{`[{"name": "x"}, {"name": "y"}]`, "x y", ""},
		{"[{name: x, most: 0}]", "", `env FOOTFALL_RULES:1:18: rules[0].most: must be 1 to 9; it is "0"`},
		{"[{", "", "env FOOTFALL_RULES:1:1: not YAML"},
	}
	for _, row := range rows {
		var c choices
		_, err := config.Load(settings(&c), config.Sources{File: path, Env: []string{"FOOTFALL_RULES=" + row.text}})
		if row.wrong != "" || err != nil {
			if row.wrong == "" || err == nil || !strings.HasPrefix(err.Error(), row.wrong) {
				t.Errorf("%s: expected %q; saw %v", row.text, row.wrong, err)
			}
			continue
		}
		var names []string
		for _, r := range c.rules {
			names = append(names, r.Of.name)
		}
		if saw := strings.Join(names, " "); saw != row.names {
			t.Errorf("%s: expected %q; saw %q", row.text, row.names, saw)
		}
	}
}

func TestCommentedOutEntriesAreNone(t *testing.T) {
	var c choices
	if _, err := config.Load(settings(&c), config.Sources{File: file(t, "rules:\n# - name: a\n")}); err != nil || len(c.rules) != 0 {
		t.Errorf("saw %v, %v", c.rules, err)
	}
}

func TestManualHasARowForEverySetting(t *testing.T) {
	var c choices
	list := settings(&c)
	manual := config.Manual(list)
	for i := range list {
		row := "| `" + list[i].Name + "`<br>`" + list[i].Env() + "` |"
		if list[i].Name == "rules" {
			row = "\n### rules\n\n`rules`, `FOOTFALL_RULES`: What is ruled.\n"
		}
		if !strings.Contains(manual, row) {
			t.Errorf("%s is missing", list[i].Name)
		}
	}
	for _, row := range []string{"| `name` | text | Whom. |", "| `most` | number, 1 to 9 | How many. |", "| `kind` | good, bad | Which. |"} {
		if !strings.Contains(manual, row+"\n") {
			t.Errorf("%s is missing", row)
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "log:\n  level: info\n", "stomp: {listen: [a:1, b:2]}\n", "broker: {memory-bytes: 5MiB, limit: none}\n",
		"a: &a [*a]\n", "rules: [{name: a, most: 3}, {}]\n", "rules: {a: &a [*a]}\n", "? {a: b}\n: c\n", "--- \n...\n", "log: !!map {level: x}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var c choices
		_, err := config.Load(settings(&c), config.Sources{File: file(t, text)})
		if err == nil && (c.window < 1 || c.timeout > time.Hour || c.memory != -1 && c.memory < 1<<20) {
			t.Fatalf("out of bounds: %+v", c)
		}
		if err != nil && !config.IsUsage(err) {
			t.Fatalf("%T %v", err, err)
		}
	})
}
