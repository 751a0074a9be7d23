package config

import (
	"regexp"
	"slices"
	"strings"
)

// EnvPrefix begins the name of every environment variable that is read.
const EnvPrefix = "FOOTFALL_"

// fileSuffix at the end of a variable's name says that its value is the path of a file
// that holds the value: the custom for secrets in containers.
const fileSuffix = "_FILE"

// readEnv finds the values in the environment.
func readEnv(settings []Setting, sources Sources, problems *Errors) map[string]Given {
	// Kubernetes tells every container about services; one named footfall makes these.
	service := regexp.MustCompile(`_SERVICE_HOST$|_SERVICE_PORT(_\w+)?$|_PORT$|_PORT_\d+_(TCP|UDP|SCTP)(_\w+)?$`)
	values := map[string]Given{}
	for _, entry := range sources.Env {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, EnvPrefix) || slices.Contains(sources.Known, name) {
			continue
		}
		at := Origin("env " + name)
		s, fromFile := findEnv(settings, name)
		if s == nil {
			if !service.MatchString("_" + strings.TrimPrefix(name, EnvPrefix)) {
				problems.add(at, "", "no such setting%s", suggest(name, envNames(settings, sources.Known)))
			}
			continue
		}
		if fromFile {
			content, err := slurp(text)
			if err != nil {
				problems.add(at, s.Name, "%w", err)
				continue
			}
			text = strings.TrimRight(string(content), "\r\n")
		}
		if other, twice := values[s.Name]; twice {
			problems.add(at, s.Name, "set twice, also by %s", other.At)
		}
		values[s.Name] = Given{Text: text, At: at}
	}
	return values
}

// findEnv finds the setting that the variable sets, itself or through a file.
func findEnv(settings []Setting, name string) (s *Setting, fromFile bool) {
	for i := range settings {
		if settings[i].Env() == name {
			return &settings[i], false
		}
	}
	for i := range settings {
		if settings[i].Env()+fileSuffix == name {
			return &settings[i], true
		}
	}
	return nil, false
}

func envNames(settings []Setting, known []string) []string {
	list := slices.Clone(known)
	for i := range settings {
		list = append(list, settings[i].Env())
	}
	return list
}
