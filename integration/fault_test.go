//go:build linux

package integration

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// stored is a data directory of a broker that was killed, and what is in it.
type stored struct {
	dir       string
	bodies    []string // in /queue/stored, in order
	scheduled int
}

// newStored makes a directory with some of everything: tables and a log, messages of all
// sizes, some acknowledged, some that wait for their time.
func newStored(t *testing.T) stored {
	t.Helper()
	const taken, scheduled = 400, 50
	p := start(t, launch{args: []string{"--set", "store.memtable-bytes=1MiB"}})
	s := stored{dir: p.launch.dir, scheduled: scheduled}
	s.fill(t, p, 2000)
	p.terminate()
	// From here on all goes to a log of its own, which holds nothing else.
	p = start(t, launch{dir: s.dir})
	s.fill(t, p, 500)
	c := session(t, p)
	for i := range scheduled {
		c.add(frames.Send, fmt.Sprint("later", i), "destination", "/queue/later", "delay", "10h")
	}
	c.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/stored", "ack", "client", "prefetch-count", fmt.Sprint(taken))
	var last answer
	for range taken {
		last = c.expect(t, frames.Message)
	}
	s.bodies = s.bodies[taken:]
	if err := c.do(frames.Ack, "", "id", last.get("ack")); err != nil {
		t.Fatal(err)
	}
	c.close()
	// What so many leave is cleared away a second later, and nobody waits for that: the log would end with an empty record.
	var batches float64
	var since time.Time
	await(t, "what was acknowledged is cleared away", func() bool {
		if n := p.metrics()["footfall_store_batches_total"]; n != batches {
			batches, since = n, time.Now()
		}
		return time.Since(since) > 2*time.Second
	})
	awaitMark(t, p)
	p.kill()
	requireSoundStore(t, s.dir)
	return s
}

// fill sends messages with all their RECEIPTs.
func (s *stored) fill(t *testing.T, p *process, messages int) {
	t.Helper()
	c := session(t, p)
	defer c.close()
	for range messages {
		i := len(s.bodies)
		body := fmt.Sprintf("%d %s", i, strings.Repeat(fmt.Sprintf("%08x", uint32(i)*2654435761), 1+i%300))
		if i%1000 == 999 {
			body += strings.Repeat("large", 100<<10)
		}
		s.bodies = append(s.bodies, body)
		c.add(frames.Send, body, "destination", "/queue/stored")
	}
	c.must(t, frames.Send, "", "destination", "/topic/nobody")
}

// awaitMark waits until the high-water mark, by which the loss of batches is found out,
// covers all that is on disk now.
func awaitMark(t *testing.T, p *process) {
	t.Helper()
	mark := filepath.Join(p.launch.dir, "MARK")
	began := time.Now().Add(-100 * time.Millisecond) // a file has the time of the last tick
	c := session(t, p)
	defer c.close()
	c.must(t, frames.Send, "x", "destination", "/queue/aside")
	await(t, "the high-water mark was written", func() bool {
		info, err := os.Stat(mark)
		return err == nil && info.ModTime().After(began)
	})
	// It is written once a second if there is something new, which the one just written may have missed.
	<-time.After(2500 * time.Millisecond)
}

// files returns the paths of all files of the directory that are not empty, relative to it.
func (s *stored) files(t *testing.T) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			relative, _ := filepath.Rel(s.dir, path)
			list = append(list, relative)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// damaged returns a copy of the directory in which a file was changed.
func (s *stored) damaged(t *testing.T, file string, change func(t *testing.T, path string)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	change(t, filepath.Join(dir, file))
	return dir
}

// used is the length of a file's content without the zeros that it was lengthened by in advance. A file
// of zeros only is all used.
func used(octets []byte) int {
	if n := len(bytes.TrimRight(octets, "\x00")); n > 0 {
		return n
	}
	return len(octets)
}

// flip changes one octet at a share of the file's used length.
func flip(share float64) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		octets, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		octets[int(share*float64(used(octets)-1))] ^= 0x10
		if err := os.WriteFile(path, octets, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// cut takes the last used octets off a file.
func cut(n int) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		octets, err := os.ReadFile(path)
		if err == nil {
			err = os.Truncate(path, int64(max(used(octets)-n, 0)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// grow writes octets behind the used ones of a file, as a write does that a crash cut short.
func grow(more string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		octets, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		end := used(octets)
		octets = append(octets[:end:end], append([]byte(more), octets[min(len(octets), end+len(more)):]...)...)
		if err := os.WriteFile(path, octets, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// requireHonest starts a broker on a damaged directory and demands that it refuses, or stops, with a clear
// last line, or else has lost nothing. It returns whether the broker came up.
func (s *stored) requireHonest(t *testing.T, dir string) (up bool) {
	t.Helper()
	p := spawn(t, launch{dir: dir})
	if p.comesUp(patience) {
		up = true
		err := s.complete(p)
		if err == nil {
			p.terminate()
			if sound, text := s.check(t, dir); !sound {
				t.Logf("nothing that was asked for is lost, and store check says: %s", text)
			}
			return true
		}
		if !poll(patience/3, p.ended) {
			t.Fatalf("the broker runs on a damaged store: %v", err)
		}
	}
	codes := []int{70}
	if p.awaitExit(patience); strings.Contains(p.out.tail(1), "not a store") {
		codes = []int{3} // without some files it cannot be told from a directory of something else
	}
	requireClearEnd(t, p, codes...)
	s.requireCheckFinds(t, dir)
	return up
}

// requireClearEnd demands that a broker has ended with one of the exit codes, and that its last line says why.
func requireClearEnd(t *testing.T, p *process, codes ...int) {
	t.Helper()
	code := p.awaitExit(patience)
	last := p.out.tail(1)
	t.Logf("exit code %d: %s", code, last)
	if !slices.Contains(codes, code) {
		t.Errorf("exit code %d, want one of %d; it said:\n%s", code, codes, p.out.tail(30))
	}
	if !strings.HasPrefix(last, "footfall: ") || !strings.Contains(last, p.launch.dir) || len(last) > 1000 || strings.Contains(p.out.text(), "goroutine ") {
		t.Errorf("the end is not clear, or does not name the directory:\n%s", p.out.tail(30))
	}
}

// complete is nil if everything that must be there is there, and nothing else.
func (s *stored) complete(p *process) error {
	c, err := connect(p.stomp, frames.V12)
	if err != nil {
		return err
	}
	defer c.close()
	if err := c.send(frames.Subscribe, "", "id", "s", "destination", "/queue/stored", "ack", "client-individual"); err != nil {
		return err
	}
	for i, want := range s.bodies {
		a, err := c.receive(patience / 3)
		switch {
		case err != nil:
			return fmt.Errorf("after %d of %d messages: %w", i, len(s.bodies), err)
		case a.command != frames.Message:
			return fmt.Errorf("after %d of %d messages: %v", i, len(s.bodies), a)
		case a.body != want:
			return fmt.Errorf("message %d is %.40q (%d octets), not %.40q (%d octets)", i, a.body, len(a.body), want, len(want))
		}
		if err := c.send(frames.Ack, "", "id", a.get("ack")); err != nil {
			return err
		}
	}
	if err := c.do(frames.Send, "the end", "destination", "/queue/end"); err != nil {
		return err
	}
	m := p.metrics()
	if n := m["footfall_messages_scheduled"]; int(n) != s.scheduled {
		return fmt.Errorf("%v messages are scheduled, not %d", n, s.scheduled)
	}
	for queue, want := range map[string]float64{"stored": 0, "aside": 1} {
		if n := m[fmt.Sprintf(`footfall_destination_messages_ready{destination="/queue/%s",kind="queue"}`, queue)]; n != want {
			return fmt.Errorf("queue %s has %v messages left, not %v", queue, n, want)
		}
	}
	return nil
}

// check runs store check on a damaged directory.
func (s *stored) check(t *testing.T, dir string) (sound bool, text string) {
	t.Helper()
	check := exec.Command(binary(t), "store", "check", dir)
	check.Env = environment()
	out, err := check.CombinedOutput()
	if strings.Contains(string(out), "goroutine ") {
		t.Errorf("store check ended with a panic:\n%s", out)
	}
	return err == nil, string(out)
}

// requireCheckFinds demands that store check does not call sound what a broker refuses.
func (s *stored) requireCheckFinds(t *testing.T, dir string) {
	t.Helper()
	if sound, text := s.check(t, dir); sound {
		t.Errorf("a broker refuses the store, and store check finds nothing wrong: %s", text)
	}
}

func TestFaultDamageIsFoundOrHarmless(t *testing.T) {
	s := newStored(t)
	refused := 0
	damage := func(t *testing.T, name, file string, change func(*testing.T, string)) (up bool) {
		t.Run(name, func(t *testing.T) {
			if up = s.requireHonest(t, s.damaged(t, file, change)); !up {
				refused++
			}
		})
		return up
	}
	for _, file := range s.files(t) {
		for _, share := range []float64{0, 0.3, 0.7, 1} {
			up := damage(t, fmt.Sprintf("an octet of %s at %.0f percent changed", filepath.Base(file), share*100), file, flip(share))
			if up && file == s.newestLog(t) {
				t.Errorf("an octet of the log changed at %.0f percent, and nobody noticed", share*100)
			}
		}
	}
	for _, file := range append(s.files(t), s.markers(t)...) {
		damage(t, filepath.Base(file)+" missing", file, func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		})
	}
	log := s.newestLog(t)
	for _, n := range []int{1, 20, 200, 20_000, 1 << 40} {
		if damage(t, fmt.Sprintf("the last %d octets of the log cut off", n), log, cut(n)) {
			t.Errorf("%d octets were cut off what was on disk, and nobody noticed", n)
		}
	}
	random := make([]byte, 3000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)
	for name, octets := range map[string]string{"an octet": "\x01", "random octets": string(random)} {
		if !damage(t, name+" behind the log", log, grow(octets)) {
			t.Error("a torn tail of the log, which any crash may leave, kept the broker from starting")
		}
	}
	t.Logf("refused %d times", refused)
}

// markers returns the empty files of the database, whose names say something.
func (s *stored) markers(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.dir, "db", "marker.*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no markers in the database: %v", err)
	}
	for i := range paths {
		paths[i], _ = filepath.Rel(s.dir, paths[i])
	}
	return paths
}

// newestLog returns the log that was being written.
func (s *stored) newestLog(t *testing.T) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.dir, "db", "*.log"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no log in the database: %v", err)
	}
	slices.Sort(paths)
	newest, _ := filepath.Rel(s.dir, paths[len(paths)-1])
	return newest
}

func TestFaultASecondProcessOnADirectoryIsRefused(t *testing.T) {
	p := start(t, launch{})
	c := session(t, p)
	c.must(t, frames.Send, "m", "destination", "/queue/q")
	second := spawn(t, launch{dir: p.launch.dir})
	requireClearEnd(t, second, 5)
	if last := second.out.tail(1); !strings.Contains(last, "another process") {
		t.Errorf("the refusal does not say that another process uses the directory: %s", last)
	}
	c.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/q", "ack", "client")
	if m := c.expect(t, frames.Message); m.body != "m" {
		t.Errorf("the first broker gives %v", m)
	}
}

func TestFaultADirectoryThatCannotBeIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "data"), "/proc/footfall", foreign} {
		requireClearEnd(t, spawn(t, launch{dir: dir}), 1, 3)
	}
	if entries, err := os.ReadDir(foreign); err != nil || len(entries) > 2 {
		t.Errorf("files were made beside foreign ones: %v %v", entries, err)
	}
}

func TestFaultAnAddressInUseIsRefused(t *testing.T) {
	p := start(t, launch{})
	second := exec.Command(binary(t), "serve", "--data", filepath.Join(t.TempDir(), "data"), "--stomp", p.stomp, "--admin", "127.0.0.1:0")
	second.Env = environment()
	out, err := second.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Errorf("ended with %v, want exit code 5 (conflict)", err)
	}
	if !strings.Contains(string(out), p.stomp) {
		t.Errorf("the refusal does not name %s: %s", p.stomp, out)
	}
}
