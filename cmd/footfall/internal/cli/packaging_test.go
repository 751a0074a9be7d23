package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const packaging = "../../../../packaging/"

func TestTheSampleConfigurationIsGood(t *testing.T) {
	run(t, "", nil, "config", "check", packaging+"footfall.yaml").expect(t, 0, "")
	// What is commented out must be good too, on the day that somebody takes the mark away.
	text, err := os.ReadFile(packaging + "footfall.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := regexp.MustCompile(`(?m)^# ((destinations|listeners|  ).*)$`).ReplaceAllString(string(text), "$1")
	if !strings.Contains(all, "\nlisteners:") || !strings.Contains(all, "\ndestinations:") {
		t.Fatal("the sample has lost its examples")
	}
	file := t.TempDir() + "/f.yaml"
	if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "", nil, "config", "check", file).expect(t, 0, "")
}

func TestTheServiceFitsTheProgram(t *testing.T) {
	text, err := os.ReadFile(packaging + "footfall.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Type=notify", "footfall serve --config /etc/footfall/footfall.yaml", "ExecReload=/bin/kill -HUP $MAINPID",
		"RestartPreventExitStatus=2 70", "StateDirectory=footfall", "WorkingDirectory=/var/lib/footfall",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the service has no %q", want)
		}
	}
}

func TestTheImageSetsSettingsThatExist(t *testing.T) {
	text, err := os.ReadFile(packaging + "Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for _, m := range regexp.MustCompile(`(FOOTFALL_\w+=\S+)`).FindAllStringSubmatch(string(text), -1) {
		env = append(env, m[1])
	}
	if len(env) < 5 {
		t.Fatalf("the image sets %q", env)
	}
	run(t, "", env, "config", "print").expect(t, 0, "")
	if !strings.Contains(string(text), "\nUSER 65532") || !strings.Contains(string(text), "CGO_ENABLED=0") {
		t.Error("the image is not static, or its user has rights")
	}
}
