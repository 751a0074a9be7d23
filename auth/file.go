package auth

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ReadUsers reads the file of users at path. That there is none is fs.ErrNotExist. A file that everybody on the machine can read
// is refused.
func ReadUsers(path string) (*Users, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o007 != 0:
		return nil, fmt.Errorf("%s is open to all users of the machine (mode %04o): chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxUsersFile+1))
	if err != nil {
		return nil, err
	}
	u, err := ParseUsers(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return u, nil
}

// ChangeUsers has change edit the users in the file at path, which is made where it is missing, with mode 0600. Whoever reads the file sees all of the change or
// none of it; it is on disk when ChangeUsers returns. One change at a time is under way, even if several programs make some.
func ChangeUsers(path string, change func(*Users) error) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	next := path + ".new"
	f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there: somebody else is changing the users; if nobody is, a change did not come to its end: remove that file", next)
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(next)
		}
	}()
	users, err := ReadUsers(path)
	if errors.Is(err, fs.ErrNotExist) {
		users, err = new(Users), nil
	}
	if err != nil {
		return err
	}
	if err := change(users); err != nil {
		return err
	}
	if len(users.Text()) > MaxUsersFile {
		return fmt.Errorf("%s would have more than %d octets", path, MaxUsersFile)
	}
	if err := keepOwner(f, path); err != nil {
		return err
	}
	if _, err := f.WriteString(users.Text()); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(next, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// keepOwner gives f the owner and the mode of the file at path, if there is one: root may change the users of a broker that is
// not root.
func keepOwner(f *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := chownLike(f, info); err != nil {
		return err
	}
	return f.Chmod(info.Mode().Perm())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
