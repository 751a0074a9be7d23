package admin

import "net/http"

// Reloaded is what came of reading the settings again, and the body of the answer to POST /api/v1/reload.
type Reloaded struct {
	// Destinations is how many entries the list of destinations has, which count now.
	Destinations int `json:"destinations"`
	// Permissions is how many entries the list of permissions has, Users how many users there are.
	Permissions int `json:"permissions"`
	Users       int `json:"users"`
	// Certificates is how many listeners read theirs again.
	Certificates int `json:"certificates"`
	// Restart are the names of other settings that changed, and that count after a restart only.
	Restart []string `json:"restart"`
}

func (s *Server) reload(w http.ResponseWriter, r *http.Request) {
	if s.opt.Reload == nil {
		refuse(w, http.StatusNotFound, "the settings of this broker cannot be read again")
		return
	}
	done, err := s.opt.Reload(r.Context())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.opt.Log.Info("settings reloaded", "destinations", done.Destinations, "users", done.Users, "permissions", done.Permissions, "need-restart", done.Restart, "remote", r.RemoteAddr)
	reply(w, http.StatusOK, done)
}
