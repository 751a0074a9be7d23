package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// defaultAdmin is where the admin server of a broker with no settings is.
const defaultAdmin = "127.0.0.1:8161"

// maxAnswer bounds an answer of an admin server, in octets.
const maxAnswer = 64 << 20

// adminServer is the HTTP side of a broker.
type adminServer struct {
	w        *world
	address  *string
	patience *time.Duration
	login    func() (login, passcode string, err error)
}

// adminFlags gives cmd the flags that say which broker is meant.
func adminFlags(w *world, cmd *cobra.Command) *adminServer {
	return &adminServer{
		w:        w,
		address:  cmd.Flags().String("admin", "", "admin address of the broker, host:port or URL (env "+envAdmin+"; default "+defaultAdmin+")"),
		patience: cmd.Flags().Duration("timeout", 30*time.Second, "how long to wait for the broker's answer"),
		login:    loginFlags(w, cmd),
	}
}

// ask sends one request, with a document where body is not nil, and reads the answer into v.
func (a *adminServer) ask(ctx context.Context, method, path string, query url.Values, body, v any) error {
	if *a.patience <= 0 {
		return usage(errors.New("flag --timeout: must be above 0"))
	}
	base, err := adminURL(cmp.Or(*a.address, a.w.getenv(envAdmin), defaultAdmin))
	if err != nil {
		return usage(err)
	}
	var document []byte
	if body != nil {
		if document, err = json.Marshal(body); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, *a.patience)
	defer cancel()
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(document))
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	login, passcode, err := a.login()
	if err != nil {
		return err
	}
	if login != "" {
		r.SetBasicAuth(login, passcode)
	}
	// The path of an id is sent as it is, whatever it looks like, and to this address only: no proxy, no redirect.
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("cannot ask %s: %w", base, err)
	}
	defer resp.Body.Close()
	return answer(base, resp, v)
}

// adminURL makes the beginning of a URL of what the user wrote.
func adminURL(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("the admin address must be host:port, or a URL of http or https, not %q", text)
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// answer reads an answer: a document, or an error with the exit code that fits.
func answer(base string, resp *http.Response, v any) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the answer of %s: %w", base, err)
	}
	if resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal(text, v); err != nil {
			return fmt.Errorf("%s does not answer as a broker's admin address does: %w", base, err)
		}
		return nil
	}
	var refused struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(text, &refused); err != nil || refused.Error == "" {
		return fmt.Errorf("%s does not answer as a broker's admin address does: %s", base, resp.Status)
	}
	err = errors.New(refused.Error)
	switch resp.StatusCode {
	case http.StatusNotFound:
		return &failure{exitNotFound, err}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return &failure{exitDenied, err}
	case http.StatusServiceUnavailable:
		return &failure{exitUnreachable, err}
	case http.StatusBadRequest:
		return usage(err)
	}
	return err
}
