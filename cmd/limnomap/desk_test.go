package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// A lake that is closed and opened by the form has the records and the events that imports of files make, and the log says who did it.
func TestLakeClosedByFormIsAsImported(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string { return limnomaptest.WriteFile(t, dir, name, content) }
	lakes := file("lakes.csv", lakesCSV)
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			newDB := func(file string) string {
				if name == "postgres" {
					return newPostgres(t)
				}
				return filepath.Join(dir, file)
			}
			closed, imported := newDB("closed.db"), newDB("imported.db")
			var base [2]string
			var admin string
			for i, db := range []string{closed, imported} {
				mustRun(t, "import", "lakes", lakes, "--db", db)
				args := []string{"--db", db}
				if i == 0 {
					args = append(args, "--desk", "--admin-listen", "127.0.0.1:0")
				}
				var log *limnomaptest.Log
				base[i], log = startServer(t, args...)
				if m := adminAddress.FindStringSubmatch(log.String()); i == 0 && m != nil {
					admin = m[1] + "/desk/"
				}
			}
			key := strings.TrimSpace(mustRun(t, "keys", "create", "--name", "Amt", "--scope", "advisories", "--db", closed))
			jar, err := cookiejar.New(nil)
			mustDo(t, err)
			client := &http.Client{Jar: jar}
			page := func(resp *http.Response, err error) string {
				t.Helper()
				mustDo(t, err)
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				mustDo(t, err)
				if resp.StatusCode != http.StatusOK {
					t.Fatalf("%s: %s: %s", resp.Request.URL, resp.Status, body)
				}
				return string(body)
			}
			send := func(path string, form url.Values) string {
				t.Helper()
				return page(client.PostForm(admin+path, form))
			}
			hidden := func(page, action string, form url.Values) url.Values { // with the hidden fields of the last form with that action
				part := page[strings.LastIndex(page, `action="`+action+`"`):]
				part, _, _ = strings.Cut(part, "</form>")
				for _, m := range hiddenField.FindAllStringSubmatch(part, -1) {
					form.Set(m[1], m[2])
				}
				return form
			}
			limnomaptest.Within(t, patience, "the key is known", func() bool { // a running server accepts it within seconds
				resp, err := client.PostForm(admin+"signin", url.Values{"key": {key}})
				mustDo(t, err)
				resp.Body.Close()
				return resp.StatusCode == http.StatusOK
			})
			lake := page(client.Get(admin + "lake?id=mueggelsee"))
			form := hidden(lake, "preview", url.Values{"until": {"2100-12-31"}, "cause": {"bacteria"}, "issuer": {"Amt"}, "text_de": {"Nicht baden,\r\n„heute“."}, "url": {"https://example.org/1"}})
			form = hidden(send("preview", form), "confirm", form)
			for range 2 {
				if done := send("confirm", form); !strings.Contains(done, "The lake is closed.") {
					t.Errorf("the page says %q", done)
				}
			}
			const row = "mueggelsee_closed_TIME,mueggelsee,closure,bacteria,Amt,,\"Nicht baden,\n„heute“.\",https://example.org/1,TIME,TIME,2101-01-01T00:00:00Z,\n"
			byForm := exportedStatements(t, closed)
			if got := madeAt.ReplaceAllString(byForm, "TIME"); !strings.HasSuffix(got, "withdrawn\n"+row) {
				t.Errorf("stored is\n%swant\n%s", got, row)
			}
			mustRun(t, "import", "advisories", file("closure.csv", byForm), "--db", imported)
			if got := exportedStatements(t, imported); got != byForm {
				t.Errorf("by import:\n%swant as by the form\n%s", got, byForm)
			}
			// Both servers say and tell the same.
			answers := func(path string, wait string) {
				t.Helper()
				var got [2]string
				for i := range base {
					limnomaptest.Within(t, patience, path+" has "+wait, func() bool {
						resp, body := limnomaptest.Get(t, base[i]+path)
						got[i] = madeAt.ReplaceAllString(string(body), "TIME")
						return resp.StatusCode == http.StatusOK && strings.Contains(got[i], wait)
					})
				}
				var a, b struct {
					Advisories any `json:"advisories"`
					Events     []struct {
						Kind     string `json:"kind"`
						LakeID   string `json:"lake_id"`
						Advisory any    `json:"advisory"`
					} `json:"events"`
				}
				mustDo(t, json.Unmarshal([]byte(got[0]), &a))
				mustDo(t, json.Unmarshal([]byte(got[1]), &b))
				x, _ := json.Marshal(a)
				y, _ := json.Marshal(b)
				if string(x) != string(y) {
					t.Errorf("%s: by the form %s, want as by import %s", path, x, y)
				}
			}
			answers("/api/v1/bathing-lakes/advisories", `"closure"`)
			answers("/api/v1/events?lake_id=mueggelsee", "advisory_issued")

			form = hidden(page(client.Get(admin+"lake?id=mueggelsee")), "preview", url.Values{})
			form.Set("action", "reopen")
			form.Set("statement", byForm[strings.Index(byForm, "\nmueggelsee")+1:strings.Index(byForm, ",mueggelsee,")])
			send("confirm", hidden(send("preview", form), "confirm", form))
			withdrawn := exportedStatements(t, closed)
			mustRun(t, "import", "advisories", file("withdrawn.csv", withdrawn), "--db", imported)
			if got := exportedStatements(t, imported); got != withdrawn || !strings.HasSuffix(madeAt.ReplaceAllString(withdrawn, "TIME"), ",2101-01-01T00:00:00Z,TIME\n") {
				t.Errorf("after the lake was opened again, by import:\n%swant as by the form\n%s", got, withdrawn)
			}
			answers("/api/v1/events?lake_id=mueggelsee", "advisory_withdrawn")

			log := page(client.Get(admin + "log"))
			for _, want := range []string{"<bdi>key Amt</bdi>", "Müggelsee", ">open<", "Closed until 31 December 2100", time.Now().UTC().Format("2006-01-")} {
				if strings.Count(log, "<tr>") != 3 || !strings.Contains(log, want) {
					t.Errorf("the log lacks %q: %s", want, log)
				}
			}
			if list := mustRun(t, "imports", "list", "--db", closed); strings.Count(list, "key Amt") != 2 {
				t.Errorf("the imports are %s, want two by the key", list)
			}
			if resp, _ := limnomaptest.Get(t, base[0]+"/desk/"); resp.StatusCode != http.StatusNotFound {
				t.Errorf("the desk on the public listener: %s", resp.Status)
			}
		})
	}
}

func TestDeskNeedsListenerAndDatabase(t *testing.T) {
	for _, args := range [][]string{{"--db", "x.db"}, {"--admin-listen", ":0"}} {
		if _, _, err := runCommand(t, append([]string{"serve", "--desk"}, args...)...); err == nil || !strings.Contains(err.Error(), "--desk needs --") {
			t.Errorf("serve --desk %v: %v", args, err)
		}
	}
}
