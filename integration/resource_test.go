//go:build linux

package integration

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"footfall/frames"
)

// limited runs a program with a limit of the shell's ulimit.
func limited(limit string) []string {
	return []string{"sh", "-c", "ulimit " + limit + `; exec "$0" "$@"`}
}

// filled is what became of a queue that was filled as far as it would go.
type filled struct {
	kept    []string // messages with a RECEIPT, in order
	refusal answer   // the ERROR, if that was the end
	silent  bool     // neither RECEIPT nor ERROR came any more
}

// fill sends persistent messages with RECEIPTs, some at a time, until the broker refuses one, falls silent, or ends.
func fill(t *testing.T, p *process) (f filled) {
	t.Helper()
	const window, size, silence = 20, 4000, 8 * time.Second
	c := session(t, p)
	random := rand.NewChaCha8([32]byte{2})
	filling := make([]byte, size/2)
	for n := 0; n < 1_000_000; n += window {
		for i := n; i < n+window; i++ {
			id := fmt.Sprintf("%06d", i)
			_, _ = random.Read(filling) // cannot be compressed
			c.add(frames.Send, fmt.Sprintf("%s%x", id, filling), "destination", "/queue/full", "receipt", id)
		}
		if c.flush() != nil {
			return f
		}
		for range window {
			a, err := c.receive(silence)
			switch {
			case errors.Is(err, errSilence):
				f.silent = true
				return f
			case err != nil:
				return f
			case a.command == frames.Failure:
				f.refusal = a
				return f
			}
			f.kept = append(f.kept, a.get("receipt-id"))
		}
	}
	t.Fatal("what should be full is not")
	return f
}

// requireKept demands that all of these are in the queue, in order; what comes behind them got no RECEIPT.
func requireKept(t *testing.T, p *process, kept []string) {
	t.Helper()
	c := session(t, p)
	if err := c.send(frames.Subscribe, "", "id", "s", "destination", "/queue/full", "ack", "client-individual"); err != nil {
		t.Fatal(err)
	}
	for i, id := range kept {
		m := c.expect(t, frames.Message)
		if m.body[:len(id)] != id {
			t.Fatalf("message %d is %.20q, not %s", i, m.body, id)
		}
		if err := c.send(frames.Ack, "", "id", m.get("ack")); err != nil {
			t.Fatal(err)
		}
	}
	c.close()
}

func TestFaultAFailedWriteEndsTheBrokerAndLosesNothing(t *testing.T) {
	// No file may be larger than 4 MiB: the log fails in the midst of its work.
	p := start(t, launch{wrap: limited("-f 8192")})
	f := fill(t, p)
	requireClearEnd(t, p, 70)
	if len(f.kept) == 0 {
		t.Fatal("nothing was taken before the write failed")
	}
	p = start(t, launch{dir: p.launch.dir})
	requireKept(t, p, f.kept)
	t.Logf("%d messages were kept", len(f.kept))
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}

// disk is a small file system that only this test and the brokers in it see. It is gone
// with the process that holds it.
type disk struct {
	dir    string
	holder *exec.Cmd
}

// smallDisk makes a file system in memory of that many mebibytes.
func smallDisk(t *testing.T, size int) *disk {
	t.Helper()
	d := &disk{dir: t.TempDir()}
	line := []string{"unshare", "--mount"}
	if os.Geteuid() != 0 {
		line = append(line, "--user", "--map-root-user")
	}
	line = append(line, "sh", "-c", fmt.Sprintf("mount -t tmpfs -o size=%dm footfall-test %s && echo mounted && exec cat", size, d.dir))
	d.holder = exec.Command(line[0], line[1:]...)
	out := newOutput()
	d.holder.Stdout, d.holder.Stderr = out, out
	stdin, err := d.holder.StdinPipe()
	if err == nil {
		err = startChild(d.holder)
	}
	if err != nil {
		t.Fatalf("making a small disk: %v", err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = d.holder.Wait()
	})
	if !poll(patience/3, func() bool { return strings.Contains(out.text(), "mounted\n") }) {
		t.Fatalf("this test fills a disk for real, and for that needs to be root or to have user namespaces: %s", out.text())
	}
	return d
}

// wrap is a command line that runs a program where the disk is.
func (d *disk) wrap() []string {
	line := []string{"nsenter", "--mount", "--target", fmt.Sprint(d.holder.Process.Pid)}
	if os.Geteuid() != 0 {
		line = append(line, "--user", "--preserve-credentials")
	}
	return line
}

// resize changes the size of the disk.
func (d *disk) resize(t *testing.T, size int) {
	t.Helper()
	line := append(d.wrap(), "mount", "-t", "tmpfs", "-o", fmt.Sprintf("remount,size=%dm", size), "footfall-test", d.dir)
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("resizing a small disk: %v\n%s", err, out)
	}
}

// launch is that of a broker on the disk.
func (d *disk) launch(args ...string) launch {
	return launch{dir: filepath.Join(d.dir, "data"), wrap: d.wrap(), args: args}
}

func TestFaultAFullDiskLosesNothing(t *testing.T) {
	disk := smallDisk(t, 48)
	l := disk.launch("--set", "store.disk-free=none", "--set", "store.memtable-bytes=4MiB")
	p := start(t, l)
	f := fill(t, p)
	t.Logf("%d messages were taken", len(f.kept))
	if f.silent {
		// The tables cannot be written, which is tried again; the log is not full yet.
		if m := p.metrics(); m[`footfall_alarm{kind="store"}`] != 1 {
			t.Error("there is no alarm of the store")
		}
		text := p.out.text()
		if lines := strings.Count(text, "no space left"); lines == 0 || lines > 100 {
			t.Errorf("the log tells of the full disk %d times", lines)
		}
		if strings.Contains(text, "stack trace") {
			t.Error("the log has stack traces")
		}
		p.kill()
	} else {
		requireClearEnd(t, p, 70)
		if last := p.out.tail(1); !strings.Contains(last, "no space") {
			t.Errorf("the end does not name the cause: %s", last)
		}
	}
	disk.resize(t, 512)
	p = start(t, l)
	requireKept(t, p, f.kept)
	p.terminate()
	requireSound(t, p.launch)
}

func TestFaultLowDiskRefusesSendsAndGoesOnDelivering(t *testing.T) {
	disk := smallDisk(t, 320)
	p := start(t, disk.launch("--set", "store.disk-free=220MiB", "--set", "store.memtable-bytes=1MiB", "--set", "limits.block-timeout=2s"))
	f := fill(t, p)
	if f.refusal.command != frames.Failure || !strings.Contains(f.refusal.get("message"), "disk") || f.refusal.get("receipt-id") == "" {
		t.Fatalf("after %d messages a SEND to a full disk was answered with %v; an ERROR that names the disk, with receipt-id, is wanted", len(f.kept), f.refusal)
	}
	t.Logf("%d messages were taken; then: %s", len(f.kept), f.refusal.get("message"))
	if m := p.metrics(); m[`footfall_alarm{kind="disk"}`] != 1 {
		t.Error("there is no alarm of the disk")
	}
	if _, body, err := p.get("/readyz"); err != nil || !strings.Contains(body, "disk") {
		t.Errorf("/readyz says nothing of the disk: %s %v", body, err)
	}
	if !strings.Contains(p.out.text(), "disk") {
		t.Error("the log says nothing of the disk")
	}
	c := session(t, p)
	c.must(t, frames.Send, "in memory", "destination", "/queue/light", "persistent", "false")
	c.must(t, frames.Subscribe, "", "id", "s", "destination", "/queue/light", "ack", "client")
	if m := c.expect(t, frames.Message); m.body != "in memory" {
		t.Errorf("there came %v", m)
	}
	// Taking messages away frees the disk, and then it goes on by itself.
	requireKept(t, p, f.kept)
	await(t, "the alarm of the disk was over", func() bool { return p.metrics()[`footfall_alarm{kind="disk"}`] == 0 })
	c.must(t, frames.Send, "again", "destination", "/queue/light")
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSound(t, p.launch)
}

func TestFaultFewFileDescriptorsRefuseConnectionsAndNothingElse(t *testing.T) {
	p := start(t, launch{wrap: limited("-n 96")})
	canary := startCanary(t, p)
	var flood []*wire
	for range 200 {
		w, err := open(p.stomp)
		if err != nil {
			break
		}
		flood = append(flood, w)
	}
	await(t, "the log tells of it", func() bool { return strings.Contains(p.out.text(), "too many open files") })
	// Tables and logs need descriptors too: the store must keep what it needs.
	c := canary
	before := c.turns.Load()
	await(t, "others went on meanwhile", func() bool { return c.turns.Load() > before+200 })
	if lines := strings.Count(p.out.text(), "too many open files"); lines > 100 {
		t.Errorf("the log has %d lines of it", lines)
	}
	for _, w := range flood {
		w.close()
	}
	await(t, "there was room again", func() bool {
		w, err := connect(p.stomp, frames.V12)
		if err == nil {
			w.close()
		}
		return err == nil
	})
	canary.requireWell(t, 10*time.Second)
	if p.ended() {
		t.Fatalf("the broker ended: %s", p.out.tail(10))
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	requireSoundStore(t, p.launch.dir)
}
