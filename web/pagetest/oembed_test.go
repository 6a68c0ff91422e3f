//go:build long

package pagetest

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"limnomap/cmd/limnomap/limnomaptest"
	"limnomap/web/browsertest"
)

// wordpress is where Debian installs WordPress.
const wordpress = "/usr/share/wordpress"

// WordPress replaces the address of a lake's page with the map: by the link in the head of the page, when it keeps only a frame in a sandbox,
// and if its operator trusts the server. In that sandbox the map still shows the lake.
func TestOEmbedInWordPress(t *testing.T) {
	t.Parallel()
	limnomaptest.Need(t, "php")
	limnomaptest.NeedFolder(t, wordpress)
	server := startServer(t, "--trusted-proxies", "127.0.0.0/8")
	site := limnomaptest.Front(t, server, nil, nil)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const lake = "de_be_grosser_wannsee"
	out, err := exec.CommandContext(ctx, "php", filepath.Join("testdata", "wordpress", "oembed.php"), wordpress, site, site+"/lakes/"+lake, site+"/nowhere").Output()
	if err != nil {
		t.Fatalf("php: %v\n%s", err, out)
	}
	var codes []struct{ Discovered, Provided any } // HTML, or false
	for line := range strings.Lines(string(out)) {
		codes = append(codes, struct{ Discovered, Provided any }{})
		if err := json.Unmarshal([]byte(line), &codes[len(codes)-1]); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if len(codes) != 2 || codes[1].Discovered != false || codes[1].Provided != false {
		t.Fatalf("WordPress makes %+v of the addresses of a lake and of nothing", codes)
	}
	provided, _ := codes[0].Provided.(string)
	if want := site + "/embed?lake=" + lake; !strings.Contains(provided, `src="`+want+`"`) || !strings.Contains(provided, `width="500"`) {
		t.Errorf("from a provider that it trusts WordPress takes %q, want a frame of %s", provided, want)
	}
	discovered, _ := codes[0].Discovered.(string)
	if !strings.Contains(discovered, `sandbox="allow-scripts"`) || !strings.Contains(discovered, site+"/embed?lake="+lake) {
		t.Fatalf("from a page WordPress takes %q, want a frame in a sandbox", discovered)
	}

	b := startBrowser(t, "en")
	b.Do(t, chromedp.EmulateViewport(700, 600), chromedp.Navigate(otherSite(t, discovered)))
	frame := b.Frame(t, site+"/embed")
	frame.Do(t, browsertest.Until(`document.querySelector('#card article')?.innerText.includes('Großer Wannsee') === true`))
	savePicture(t, b, "wordpress")
}
