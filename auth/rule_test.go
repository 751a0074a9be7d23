package auth

import (
	"strings"
	"testing"
)

// rule makes a rule of "/queue/a.> ann,@sales +send,receive -browse".
func rule(t *testing.T, text string) Rule {
	t.Helper()
	fields := strings.Fields(text)
	match, err := ParsePattern(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	r := Rule{Match: match, Who: strings.Split(fields[1], ","), At: text}
	for _, field := range fields[2:] {
		set, err := ParseActions(strings.Split(field[1:], ","))
		if err != nil {
			t.Fatal(err)
		}
		if field[0] == '+' {
			r.Allow = set
		} else {
			r.Deny = set
		}
	}
	if err := r.Check(); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return r
}

func TestRulesDecide(t *testing.T) {
	ann := principal{"ann", []string{"sales"}}
	dotted := principal{"ann.x", nil}
	nobody := principal{}
	for _, row := range []struct {
		rules  string
		who    principal
		asks   string // action kind name
		answer bool
		reason string
	}{
		{"", ann, "send queue a", false, "no rule"},
		{"/queue/a ann +send", ann, "send queue a", true, "a rule allows"},
		{"/queue/a ann +send", ann, "receive queue a", false, "no rule"},
		{"/queue/a ann +send", ann, "send topic a", false, "no rule"},
		{"/queue/a bob +send", ann, "send queue a", false, "no rule"},
		{"/queue/a @sales +send", ann, "send queue a", true, ""},
		{"/queue/a @ann +send", ann, "send queue a", false, ""},
		{"/queue/a sales +send", ann, "send queue a", false, ""},
		{"/queue/a everyone +all", ann, "manage queue a", true, ""},
		{"/queue/a everyone +all", nobody, "send queue a", false, ""},
		{"/queue/a anonymous +send", nobody, "send queue a", true, ""},
		{"/queue/a anonymous +send", ann, "send queue a", false, ""},
		{"> ann +all", ann, "receive dsub ann:x", true, ""},
		{"/queue/> ann +all; /queue/pay @sales -receive", ann, "receive queue pay", false, "a rule denies"},
		{"/queue/pay @sales -receive; /queue/pay ann +receive", ann, "receive queue pay", false, "a rule denies"}, // in any order
		{"/queue/> ann +all; /queue/pay @sales -receive", ann, "send queue pay", true, ""},
		{"/topic/a.* ann +receive", ann, "receive topic a.>", false, "a part"},
		{"/topic/> ann +receive; /topic/a.secret ann -receive", ann, "receive topic a.*", false, "denies"},
		{"/topic/> ann +receive; /topic/a.secret ann -receive", ann, "receive topic b.*", true, ""},
		{"/topic/a ann +receive; /topic/a.*.> ann +receive", ann, "receive topic a.>", true, "together"},
		{"/queue/{user}.> everyone +all", ann, "send queue ann.in", true, ""},
		{"/queue/{user}.> everyone +all", ann, "send queue bob.in", false, ""},
		{"/queue/{user}.> everyone +all", dotted, "send queue ann.x.in", false, "no rule"}, // or ann.x had what is ann's
		{"/queue/> everyone +all; /queue/{user} everyone -send", dotted, "send queue ann.x", true, ""},
		{"", ann, "receive temp-queue r", true, "needs no rule"},
		{"", ann, "manage temp-queue r", false, ""},
		{"/temp-queue/> ann -send", ann, "send temp-queue r", false, "denies"},
		{"", ann, "delete dsub ann:x", true, "needs no rule"},
		{"", ann, "receive dsub ann:x", false, ""},
	} {
		var rules []Rule
		for text := range strings.SplitSeq(row.rules, ";") {
			if text != "" {
				rules = append(rules, rule(t, text))
			}
		}
		asks := strings.Fields(row.asks)
		action, err := ParseAction(asks[0])
		if err != nil {
			t.Fatal(err)
		}
		d := rightsOf(&row.who, rules).decide(action, asks[1], asks[2])
		if d.Allowed != row.answer || !strings.Contains(d.Reason, row.reason) {
			t.Errorf("%q: %q by %q: %v, %q", row.rules, row.asks, row.who.name, d.Allowed, d.Reason)
		}
		if strings.Contains(d.Reason, "a rule") && len(d.Rules) != 1 {
			t.Errorf("%q: %q: the rule is not told: %v", row.rules, row.asks, d.Rules)
		}
	}
}

func TestRulesThatMakeNoSense(t *testing.T) {
	all, _ := ParseActions([]string{"all"})
	for part, r := range map[string]Rule{
		"who":              {Allow: all},
		"neither":          {Who: []string{"ann"}},
		"what it denies":   {Who: []string{"ann"}, Allow: all, Deny: Send.alone()},
		"says nothing of ": {Deny: all},
	} {
		if err := r.Check(); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, who := range []string{"", "@", "a b", "a,b", "@everyone", "*", "#", "a:b"} {
		if CheckWho(who) == nil {
			t.Errorf("%q can be who", who)
		}
	}
	for _, who := range []string{"ann", "@sales", "everyone", "anonymous", "ann@example.com", "Änn"} {
		if err := CheckWho(who); err != nil {
			t.Errorf("%q: %v", who, err)
		}
	}
	if _, err := ParseActions([]string{"send", "eat"}); err == nil || !strings.Contains(err.Error(), "manage, or all") {
		t.Errorf("eat: %v", err)
	}
}

func TestPatternsAreRead(t *testing.T) {
	for text, part := range map[string]string{
		"":              "must begin",
		"a":             "must begin",
		"/exchange/a":   "must begin",
		"/queue/":       "no name",
		"/queue/a*":     "whole levels",
		"/queue/a\x01":  "control",
		"/queue/\xff":   "UTF-8",
		"/queue/%2Fa":   "slash",
		"/queue/{name}": "brace",
		"/queue/" + strings.Repeat("a", maxPatternName+1):          "octets",
		"/queue/" + strings.Repeat("a.", maxPatternLevels) + ">":   "levels",
		"/queue/" + strings.Repeat("a.", maxPatternLevels-1) + ">": "",
		"/queue/" + strings.Repeat("a.", 2*maxPatternLevels) + "b": "",
		">":             "",
		"/dsub/ann:x":   "",
		"/temp-topic/>": "",
		"/queue/a/b.*":  "",
	} {
		p, err := ParsePattern(text)
		if part == "" && (err != nil || p.String() != text) || part != "" && (err == nil || !strings.Contains(err.Error(), part)) {
			t.Errorf("%.50q: %v, want %q", text, err, part)
		}
	}
}

func TestRolesHaveNames(t *testing.T) {
	for r := NoRole; r <= Admin; r++ {
		if got, err := ParseRole(r.String()); err != nil || got != r {
			t.Errorf("%v is read as %v, %v", r, got, err)
		}
	}
	if _, err := ParseRole("root"); err == nil {
		t.Error("root is a role")
	}
}
