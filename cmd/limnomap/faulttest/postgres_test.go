//go:build unix

package faulttest

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A server that is started before its PostgreSQL says so once, and goes on by itself when that comes.
func TestServeBeforePostgres(t *testing.T) {
	t.Parallel()
	p := startPostgres(t)
	dir := t.TempDir()
	importFile(t, "lakes", writeLakes(t, dir, uniformLakes), p.url)
	importFile(t, "observations", writeValues(t, dir, uniformLakes, 5), p.url)
	p.kill(t)
	s := limnomaptest.LaunchWithEnv(t, []string{"LIMNOMAP_DB=" + p.url})
	limnomaptest.Within(t, patience, "some tries fail", func() bool { return s.Metric(t, "limnomap_event_log_failures_total") > 2 })
	if got := s.StatusOf("/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz before the first load = %d, want 503", got)
	}
	log := eventLog(s)
	if n := strings.Count(log, "cannot be reached"); n != 1 || strings.Contains(log, "previous data") || !strings.Contains(log, "the data cannot be loaded yet") {
		t.Errorf("%d lines say that PostgreSQL cannot be reached, want one, and no word of previous data:\n%s", n, log)
	}
	p.start(t)
	s.AwaitReady(t)
	wantValue(t, s, 5)
	limnomaptest.Within(t, patience, "the log of events is written", func() bool { return strings.Contains(s.Log.String(), "log of events written") })
	importValue(t, p.url, 50)
	awaitValue(t, s, 50)
	if log := eventLog(s); !strings.Contains(log, "the data are loaded") || strings.Contains(log, "level=ERROR") {
		t.Errorf("log:\n%s", log)
	}
	stopCleanly(t, s)
}

// A server whose PostgreSQL accepts connections and never answers says so once, in /readyz too, and stops at once.
func TestServeBeforeASilentPostgres(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the system accepts what the test does not
	must(t, err)
	defer silent.Close()
	s := limnomaptest.LaunchWithEnv(t, []string{"LIMNOMAP_DB=postgres://me@" + silent.Addr().String() + "/lakes?connect_timeout=1&sslmode=disable"})
	limnomaptest.Within(t, patience, "some tries fail", func() bool { return s.Metric(t, "limnomap_event_log_failures_total") > 2 })
	limnomaptest.Within(t, patience, "/readyz says it", func() bool {
		response, body := limnomaptest.Get(t, s.Base+"/readyz")
		return response.StatusCode == http.StatusServiceUnavailable && strings.Contains(string(body), "The data cannot be loaded yet")
	})
	if log := eventLog(s); strings.Count(log, "cannot be reached") != 1 || strings.Contains(log, "level=ERROR") {
		t.Errorf("want one line that PostgreSQL cannot be reached:\n%s", log)
	}
	stopCleanly(t, s)
}

// TestServePostgres starts a server on a database without tables. The server waits for the tables, reports that, and shows
// the first import. Neither its log nor the output of commands has the password, which is in the environment.
func TestServePostgres(t *testing.T) {
	t.Parallel()
	dsn := startPostgres(t).url
	u, err := url.Parse(dsn)
	must(t, err)
	password, _ := u.User.Password()
	s := limnomaptest.LaunchWithEnv(t, []string{"LIMNOMAP_DB=" + dsn})
	if got := s.StatusOf("/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz before the first import = %d, want 503", got)
	}
	var output strings.Builder
	run := func(dsn string, args ...string) error {
		cmd := limnomaptest.Command(t, args...)
		cmd.Env = append(cmd.Env, "LIMNOMAP_DB="+dsn)
		out, err := cmd.CombinedOutput()
		output.Write(out)
		return err
	}
	dir := t.TempDir()
	for _, args := range [][]string{
		{"import", "lakes", limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\na,Ammersee,48,11.1\n")},
		{"keys", "create", "--name", "me"},
		{"keys", "list"},
		{"keys", "revoke", "me"},
	} {
		if err := run(dsn, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, &output)
		}
	}
	s.AwaitReady(t)
	if _, body := limnomaptest.Get(t, s.Base+statusPath); !strings.Contains(string(body), "Ammersee") {
		t.Errorf("status = %s, want the lake", body)
	}
	if err := run(dsn, "import", "lakes", limnomaptest.WriteFile(t, dir, "bad.csv", "id,name,lat,lon\nb,Bad,99,11.1\n")); err == nil {
		t.Error("the import of a bad file succeeded")
	}
	s.Stop(t)
	u.User = url.UserPassword("limnomap", "wrong")
	if err := run(u.String(), "serve", "--listen", "127.0.0.1:0"); err == nil || !strings.Contains(output.String(), "refuses the user or the password") {
		t.Errorf("serve with a wrong password = %v, want an error at once\n%s", err, &output)
	}
	if strings.Contains(s.Log.String()+output.String(), password) {
		t.Error("the password is in the log or in the output")
	}
}
