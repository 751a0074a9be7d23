package admin_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"footfall/admin"
)

func TestReloadTellsWhatCameOfIt(t *testing.T) {
	works := func(context.Context) (admin.Reloaded, error) {
		return admin.Reloaded{Destinations: 2, Restart: []string{"limits.body"}}, nil
	}
	fails := func(context.Context) (admin.Reloaded, error) {
		return admin.Reloaded{}, errors.New("f.yaml:3:5: wrong")
	}
	for _, row := range []struct {
		name   string
		method string
		reload func(context.Context) (admin.Reloaded, error)
		status int
		part   string
	}{
		{"it works", http.MethodPost, works, http.StatusOK, `"limits.body"`},
		{"it is refused", http.MethodPost, fails, http.StatusBadRequest, "f.yaml:3:5: wrong"},
		{"it cannot be", http.MethodPost, nil, http.StatusNotFound, "cannot be read again"},
		{"it is no question", http.MethodGet, works, http.StatusMethodNotAllowed, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			admin.New(admin.Options{Reload: row.reload}).ServeHTTP(w, httptest.NewRequest(row.method, "/api/v1/reload", nil))
			if w.Code != row.status || !strings.Contains(w.Body.String(), row.part) {
				t.Errorf("%d %s, want %d and %q", w.Code, w.Body, row.status, row.part)
			}
		})
	}
}
