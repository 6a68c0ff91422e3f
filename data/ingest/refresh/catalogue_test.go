package refresh

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"limnomap/data"
	"limnomap/data/store/storetest"
)

func TestCatalogueHeader(t *testing.T) {
	for _, test := range []struct {
		line string
		want bool
	}{
		{"id;name;content_length;s3_path", true},
		{"\uFEFFID,Name,bbox,URL", true},
		{`"id"|"name"|"href"`, true},
		{"id\tname\ts3_path", true},
		{"id,name,lat,lon,url", false}, // lakes
		{`id;"name;url`, false},
		{"", false},
	} {
		if _, ok := parseCatalogueHeader(test.line); ok != test.want {
			t.Errorf("parseCatalogueHeader(%q) = %v, want %v", test.line, ok, test.want)
		}
	}
}

func TestFileInFolder(t *testing.T) {
	for s3, want := range map[string]string{
		"/eodata/CLMS/c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1_nc":  "/eodata/CLMS/c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1_nc/c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc",
		"/eodata/CLMS/c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1_nc/": "/eodata/CLMS/c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1_nc/c_gls_LWQ300_202509010000_GLOBE_OLCI_V2.1.1.nc",
		"eodata/x.tif":        "/eodata/x.tif",
		"/../../etc/x.nc":     "/etc/x.nc",
		"/eodata/x_cog":       "",
		"/eodata/x.nc.sha256": "",
		"/eodata/_nc":         "",
		"/eodata/..a_nc":      "",
		"":                    "",
	} {
		got, ok := fileInFolder(s3)
		if ok != (want != "") || ok && got != want {
			t.Errorf("fileInFolder(%q) = %q, %v, want %q", s3, got, ok, want)
		}
	}
}

// A list names files on a gateway, of which the newest are read.
func TestCatalogue(t *testing.T) {
	web := serveRasters(t)
	base, err := url.Parse(web.URL + "/gateway?key=hidden")
	must(t, err)
	list := "id;name;bbox;content_length;s3_path\n"
	for day := 1; day <= 5; day++ {
		name := fmt.Sprintf("c_2024070%d_V1", day)
		list += fmt.Sprintf("%d;%s_nc;\"POLYGON((0 0; 1 1))\";5;/eodata/2024/%s_nc\n", day, name, name)
		web.put(fmt.Sprintf("/gateway/eodata/2024/%s_nc/%s.nc", name, name), scene(float64(day)))
	}
	list += "9;c_20240709_V1_cog;;5;/eodata/2024/c_20240709_V1_cog\n\n"
	web.put("/list.csv", list)
	web.put("/lakes.csv", lakes)
	s := storetest.New(t)
	from := []string{web.URL + "/lakes.csv", web.URL + "/list.csv"}
	g := newRasterRig(t, s, Options{Newest: 3}, from...)
	g.refreshed(t, "set catalogue-base", "", data.RasterCounts{})
	g = newRasterRig(t, s, Options{Newest: 3, CatalogueBase: base}, from...)
	g.refreshed(t, "", "c_20240705_V1.nc c_20240704_V1.nc c_20240703_V1.nc", data.RasterCounts{Skipped: 2})
	if log := g.log.String(); !strings.Contains(log, "rows=1") || !strings.Contains(log, "line 7: no address of a file that ends in .nc") || strings.Contains(log, "hidden") {
		t.Errorf("the log is\n%s", log)
	}
	holds(t, s, 4, 2, "3", "4", "5", "3", "4", "5")
	web.asked = nil
	g.refreshed(t, "", "", data.RasterCounts{Skipped: 2})
	if slices.ContainsFunc(web.asked, func(path string) bool { return strings.Contains(path, ".nc") }) {
		t.Errorf("files that were taken are requested again: %v", web.asked)
	}
	// A file whose row changes is read again.
	web.put("/list.csv", strings.Replace(list, ";5;/eodata/2024/c_20240704", ";6;/eodata/2024/c_20240704", 1))
	web.put("/gateway/eodata/2024/c_20240704_V1_nc/c_20240704_V1.nc", scene(44))
	g.refreshed(t, "", "c_20240704_V1.nc", data.RasterCounts{Skipped: 2})
	holds(t, s, 5, 2, "3", "44", "5", "3", "44", "5")

	// If the gateway does not answer, it is not asked for each of its files.
	web.put("/list.csv", strings.ReplaceAll(list, ";5;", ";7;"))
	local := t.TempDir()
	write(t, local, "list.csv", strings.ReplaceAll(list, ";5;", ";7;"))
	g = newRasterRig(t, s, Options{Newest: 3, CatalogueBase: base}, local)
	web.down, web.asked = true, nil
	_, state := g.refreshed(t, "503", "", data.RasterCounts{Waiting: 3, Skipped: 2})
	if state.LastError != awayReason || len(web.asked) != 1 {
		t.Errorf("the state is %+v after the requests %v, want one", state, web.asked)
	}
	web.down = false
	g.refreshed(t, "", "c_20240705_V1.nc c_20240704_V1.nc c_20240703_V1.nc", data.RasterCounts{Skipped: 2})
}

func TestBadCatalogues(t *testing.T) {
	for name, test := range map[string]struct{ list, want string }{
		"no address":     {"id;name;url\n1;a;\n2;b;ftp://example.org/b.nc\n", "has 2 rows, and none that can be used: line 2: no address of a file"},
		"no URL":         {"id;name;url\n1;a;http://%zz/b.nc\n", "line 2: its address is not a URL"},
		"columns":        {"id;name;url\n1;a\n", "line 2: it has 2 columns: want 3"},
		"quotes":         {"id;name;url\n1;\"a;http://example.org/b.nc\n", "line 2: it has 2 columns: want 3"},
		"long line":      {"id;name;url\n1;a;" + strings.Repeat("x", maxCatalogueLine) + "\n", "has a line of more than 65536 bytes"},
		"only a gateway": {"id;name;s3_path\n1;a;s3://eodata/a.nc\n", "has 1 files with an s3_path, and none with an http:// or https:// address: set catalogue-base"},
		"too many rows":  {"id;name;url\n" + strings.Repeat("1;a;\n", maxCatalogueRows+1), "has more than 1000000 rows"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRasterRig(t, storetest.New(t), Options{})
			write(t, g.dir, "list.csv", test.list)
			g.refreshed(t, test.want, "", data.RasterCounts{})
		})
	}
	g := newRasterRig(t, storetest.New(t), Options{})
	write(t, g.dir, "list.csv", "id;name;url\n")
	g.refreshed(t, "", "", data.RasterCounts{})
}

// The addresses in another machine's list are like redirects: not to this machine, and not from https to http.
func TestCatalogueFromElsewhere(t *testing.T) {
	web := serveRasters(t)
	web.put("/x_20240701.nc", scene(1))
	list := "id;name;url\n1;x;" + web.URL + "/x_20240701.nc\n"
	write := func(from string) ([]*raster, error) {
		g := newRasterRig(t, storetest.New(t), Options{})
		f, err := g.openSaved(t, list)
		if err != nil {
			return nil, err
		}
		u, err := url.Parse(from)
		must(t, err)
		rasters, _, err := g.readCatalogue(source{url: u}, f)
		return rasters, err
	}
	rasters, err := write("http://example.org/list.csv")
	if err != nil || len(rasters) != 1 {
		t.Fatal(rasters, err)
	}
	if _, err := rasters[0].open(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("an address of this machine in a list of another one: %v, want it refused", err)
	}
	if rasters, err = write(web.URL + "/list.csv"); err != nil || len(rasters) != 1 {
		t.Fatal(rasters, err)
	}
	opened, err := rasters[0].open(t.Context(), "")
	if err != nil {
		t.Fatalf("an address of this machine in its own list: %v", err)
	}
	opened.close()
	if _, err := write("https://example.org/list.csv"); err == nil || !strings.Contains(err.Error(), "want https") {
		t.Errorf("an http address in a list of https: %v, want it refused", err)
	}
}

// The user of a list is the user of the files beside it, and of no others.
func TestCatalogueUser(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{})
	var users []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		users = append(users, user+":"+password)
		http.NotFound(w, r)
	}))
	defer web.Close()
	f, err := g.openSaved(t, "id;name;url\n1;x;"+web.URL+"/x.nc\n2;y;"+strings.Replace(web.URL, "127.0.0.1", "localhost", 1)+"/y.nc\n")
	must(t, err)
	u, err := url.Parse(strings.Replace(web.URL, "http://", "http://me:secret@", 1))
	must(t, err)
	rasters, _, err := g.readCatalogue(source{url: u}, f)
	if err != nil || len(rasters) != 2 {
		t.Fatal(rasters, err)
	}
	for _, r := range rasters {
		if _, err := r.open(t.Context(), ""); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("open = %v", err)
		}
	}
	if !slices.Equal(users, []string{"me:secret", ":"}) {
		t.Errorf("the users are %q", users)
	}
}

// openSaved returns an open file with that content.
func (g *rasterRig) openSaved(t *testing.T, content string) (*file, error) {
	t.Helper()
	f, err := openRegular(write(t, t.TempDir(), "list.csv", content))
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { f.Close() })
	return &file{name: "list.csv", File: f, size: int64(len(content))}, nil
}

// Old files of a long list are left out while it is read.
func TestLongCatalogue(t *testing.T) {
	g := newRasterRig(t, storetest.New(t), Options{Newest: 2})
	var list strings.Builder
	list.WriteString("id;name;url\n")
	for i := range 3 * maxListed {
		fmt.Fprintf(&list, "%d;x;http://example.org/x%06d_%d%02d01.nc\n", i, i, 1980+i%40, 1+i%12)
	}
	f, err := g.openSaved(t, list.String())
	must(t, err)
	rasters, skipped, err := g.readCatalogue(source{folder: "x"}, f)
	if err != nil || len(rasters)+int(skipped) != 3*maxListed || len(rasters) > maxListed {
		t.Fatalf("%d files and %d skipped, %v; want %d together", len(rasters), skipped, err, 3*maxListed)
	}
	if kept := newest(rasters, 2); len(kept) != 3*maxListed*2/120 || kept[0].date.String() != "2019-12-01" {
		t.Errorf("%d files are kept, the first of %v", len(kept), kept[0].date)
	}
}

// Whatever a list has, its addresses are of the allowed schemes and of satellite files, below the gateway if they are not whole.
func FuzzCatalogue(f *testing.F) {
	f.Add("id;name;s3_path\n1;a;s3://bucket/a_nc\n", true)
	f.Add("id,name,url,href\n1,\"a,b\",https://example.org/x.nc?k=v#f,//x\n2,c,http://user@h/y.TIF,s3://b/z.nc\n", false)
	f.Add("id;name;s3_path\n1;a;s3:/%zzck\x00et/%2e%2e/a_nc\n", true)
	f.Add("id|name|href|size\n1|a|http://[::1]/../x.tiff|5\n", true)
	base, err := url.Parse("https://gateway.example/base/?key=k")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, list string, gateway bool) {
		r := &Refresher{log: slog.New(slog.DiscardHandler), client: newClient(nil), opts: Options{Newest: 3}}
		if gateway {
			r.opts.CatalogueBase = base
		}
		path := filepath.Join(t.TempDir(), "list")
		must(t, os.WriteFile(path, []byte(list), 0o600))
		opened, err := os.Open(path)
		must(t, err)
		defer opened.Close()
		file := &file{name: "list", File: opened, size: int64(len(list))}
		if is, err := isCatalogue(file); err != nil || !is {
			return
		}
		rasters, _, err := r.readCatalogue(source{folder: "x"}, file)
		if err != nil && !isFault(err) {
			t.Errorf("the error %v is no fault", err)
		}
		for _, found := range rasters {
			u, err := url.Parse(found.label)
			if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !isRaster(found.name) {
				t.Errorf("%q has the address %q, %v", list, found.label, err)
			}
			if !strings.Contains(list, "http") && !strings.HasPrefix(found.label, "https://gateway.example/base/") {
				t.Errorf("%q has the address %q, which is not below the gateway", list, found.label)
			}
		}
	})
}
