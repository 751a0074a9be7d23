package auth

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The words of Rule.Who that are no names.
const (
	everyone  = "everyone"  // all who have logged in
	anonymous = "anonymous" // those who were let in without a login
)

// groupMark begins the name of a group where one of a user could stand.
const groupMark = "@"

// Rule is an entry of the list of permissions: who may do what, or may not, with which destinations.
type Rule struct {
	// Match are the destinations.
	Match Pattern
	// Who are names of users, groups with an @ before them, "everyone" for all who have logged in, and "anonymous" for those
	// who were let in without.
	Who []string
	// Allow and Deny are what they may do, and what they may not, whatever other rules say.
	Allow, Deny Actions
	// At says where the rule stands, for those who ask why: "footfall.yaml:12:5".
	At string
}

// CheckWho tells what is wrong with an item of Rule.Who.
func CheckWho(text string) error {
	switch name, isGroup := strings.CutPrefix(text, groupMark); {
	case isGroup:
		return CheckName(name)
	case text == everyone || text == anonymous:
		return nil
	default:
		return CheckName(text)
	}
}

// Check tells what is wrong with a rule as a whole.
func (r *Rule) Check() error {
	switch {
	case len(r.Who) == 0:
		return fmt.Errorf("says nothing of who: names of users, %sGROUP, %s, %s", groupMark, everyone, anonymous)
	case r.Allow == 0 && r.Deny == 0:
		return errors.New("neither allows nor denies anything")
	case r.Allow&r.Deny != 0:
		return errors.New("allows what it denies")
	}
	return nil
}

// concerns tells whether a rule is about somebody.
func (r *Rule) concerns(p *principal) bool {
	return slices.ContainsFunc(r.Who, func(who string) bool {
		switch name, isGroup := strings.CutPrefix(who, groupMark); {
		case isGroup:
			return slices.Contains(p.groups, name)
		case who == everyone:
			return p.name != ""
		case who == anonymous:
			return p.name == ""
		default:
			return who == p.name
		}
	})
}

// principal is somebody as rules know him. One without a name has not logged in.
type principal struct {
	name   string
	groups []string
}

// Decision is an answer to whether somebody may do something, with its reason.
type Decision struct {
	Allowed bool
	// Reason says why in a few words.
	Reason string
	// Rules are those that decide: the one that denies, or those that allow together. None where nothing allows it, or no
	// rule is needed.
	Rules []Rule
}

// rights are what one principal may do. They do not change.
type rights struct {
	open bool // while there are no users: everything
	list []right
	// stamp says what all of it depends on. Two rights with the same one are the same.
	stamp string
}

// right is a rule as it is for one principal.
type right struct {
	rule   *Rule
	match  Pattern // with the principal's name in it
	allow  Actions
	denies Actions
}

// rightsOf picks the rules that are about somebody.
func rightsOf(p *principal, rules []Rule) *rights {
	r := new(rights)
	var stamp strings.Builder
	for i := range rules {
		rule := &rules[i]
		if !rule.concerns(p) {
			continue
		}
		own := right{rule, rule.Match.of(p.name), rule.Allow, rule.Deny}
		if rule.Match.isPersonal() && strings.Contains(p.name, ".") {
			own.allow = 0 // ann.smith would be given what is ann's, by /queue/{user}.>
		}
		r.list = append(r.list, own)
		fmt.Fprintf(&stamp, "%q %d %d;", rule.Match.text, own.allow, own.denies)
	}
	r.stamp = stamp.String()
	return r
}

// decide answers for one destination, or for a set of them where the name has wildcards.
func (r *rights) decide(action Action, kind, name string) Decision {
	if r.open {
		return Decision{Allowed: true, Reason: "there are no users"}
	}
	asked := levelsOf(name)
	var allowing []int
	for i, own := range r.list {
		isAbout := own.match.fits(kind) && meets(own.match.levels, asked)
		if isAbout && own.denies.has(action) {
			return Decision{Reason: "a rule denies it", Rules: []Rule{*own.rule}}
		}
		if isAbout && own.allow.has(action) {
			allowing = append(allowing, i)
		}
	}
	for _, i := range allowing {
		if covers([][]level{r.list[i].match.levels}, asked) {
			return Decision{Allowed: true, Reason: "a rule allows it", Rules: []Rule{*r.list[i].rule}}
		}
	}
	switch {
	case isImplied(action, kind):
		return Decision{Allowed: true, Reason: "it needs no rule: " + impliedReason(kind)}
	case len(allowing) == 0:
		return Decision{Reason: "no rule allows it"}
	}
	union, together := make([][]level, len(allowing)), make([]Rule, len(allowing))
	for n, i := range allowing {
		union[n], together[n] = r.list[i].match.levels, *r.list[i].rule
	}
	if !covers(union, asked) {
		return Decision{Reason: "rules allow a part of it only"}
	}
	return Decision{Allowed: true, Reason: "several rules allow it together", Rules: together}
}

// isImplied tells whether something is allowed that no rule denies. Others cannot take from a temporary destination, and can send to
// one only if they were told its name, which is sealed; and a durable subscription is ended by its owner only. The broker sees to that.
func isImplied(action Action, kind string) bool {
	switch kind {
	case "temp-queue", "temp-topic":
		return action != Manage
	case "dsub":
		return action == Delete
	}
	return false
}

func impliedReason(kind string) string {
	if kind == "dsub" {
		return "who owns a durable subscription may end it"
	}
	return "who owns a temporary destination may take from it, and who was told its name may send to it"
}
