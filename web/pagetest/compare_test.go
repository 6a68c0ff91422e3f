//go:build long

package pagetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"limnomap/web/browsertest"
)

// comparedNames is true when the lakes with those letters and names are compared, in that order.
func comparedNames(names ...string) chromedp.Action[chromedp.Void] {
	return browsertest.Until(fmt.Sprintf(`[...document.querySelectorAll('.compared tbody th')].map((e) => e.innerText.replace(/[×\s]+/g, ' ').trim()).join() === %q`, strings.Join(names, ",")))
}

// lettered returns names with the letters that the chart gives them.
func lettered(names []string) []string {
	var all []string
	for i, name := range names {
		all = append(all, string(rune('A'+i))+" "+name)
	}
	return all
}

func openLake(id string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = location.hash.replace(/lake=[^&]*/, '') + '&lake=%s'`, id))
}

// Lakes are compared in one chart: each lake whose card opens is added, up to eight, and the address holds them.
func TestPageCompare(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	b := openPage(t, "en-GB", base+"/#lake=de_be_grosser_mueggelsee", browsertest.Until(chartDrawn))
	browsertest.Expect(t, b, `performance.getEntriesByType('resource').some(({name}) => /assets\/compare-/.test(name))`, false, "a card loads the script that compares lakes")
	b.Do(t, press("Compare"), comparedNames("A Großer Müggelsee"), says("Choose another lake"))
	b.Do(t, openLake("de_by_starnberger_see"), comparedNames("A Großer Müggelsee", "B Starnberger See"))
	b.Do(t, openLake("de_sh_grosser_eutiner_see"), comparedNames("A Großer Müggelsee", "B Starnberger See", "C Großer Eutiner See"))
	b.Do(t, openLake("de_bb_guelper_see"), comparedNames("A Großer Müggelsee", "B Starnberger See", "C Großer Eutiner See", "D Gülper See"))

	type drawn struct {
		Dashes, Letters, Signs []string
		Hash                   string
	}
	got := browsertest.Ask(t, b, chromedp.Evaluate[drawn](`(() => {
		const all = (selector, of) => [...document.querySelectorAll('.compared > .plot ' + selector)].map(of);
		return {Dashes: all('.line', (e) => getComputedStyle(e).strokeDasharray), Letters: all('.letter', (e) => e.textContent),
			Signs: all('.sign', (e) => e.getAttribute('d').replace(/M[\d. ]+/, '').split('M')[0]), Hash: location.hash};
	})()`))
	for name, values := range map[string][]string{"dashes": got.Dashes, "signs": got.Signs, "letters": got.Letters} {
		distinct := make(map[string]bool)
		for _, v := range values {
			distinct[v] = true
		}
		if len(values) != 4 || len(distinct) != 4 {
			t.Errorf("the lines have the %s %q, want four distinct ones", name, values)
		}
	}
	if want := "compare=de_be_grosser_mueggelsee,de_by_starnberger_see,de_sh_grosser_eutiner_see,de_bb_guelper_see"; !strings.Contains(got.Hash, want) {
		t.Errorf("the address has %s, want %s", got.Hash, want)
	}
	for _, want := range []string{"Last value", " risk, ", "\u00a0µg/l", " ago"} {
		browsertest.WantText(t, b, chromedp.Text(".compared table"), fmt.Sprintf("the table lacks %q", want), want)
	}
	checkAccess(t, b, "four lakes compared")

	t.Run("is in view, and wide on a desk", func(t *testing.T) {
		browsertest.Expect(t, b, `(() => {
			const [plot, panel] = ['.compared > .plot', '#panel'].map((s) => document.querySelector(s).getBoundingClientRect());
			return plot.top >= panel.top && plot.bottom <= panel.bottom && plot.width > 600;
		})()`, true, "the chart is not in view, or narrow")
	})
	t.Run("years over one another", func(t *testing.T) {
		const lines = `[...document.querySelectorAll('.compared > .plot .line')].filter((e) => e.getAttribute('d')).map((e) => e.getAttribute('class')).join()`
		const columns = `document.querySelectorAll('.compared thead th').length`
		before := browsertest.Ask(t, b, chromedp.Evaluate[string](lines))
		b.Do(t, press("Years over one another"), says("Highest by year"), says("the years before"))
		if got := browsertest.Ask(t, b, chromedp.Evaluate[string](lines)); !strings.Contains(got, "of-0 age-1") || !strings.Contains(got, "of-3 age-0") {
			t.Errorf("the lines are %q, want two years of each lake", got)
		}
		checkAccess(t, b, "years over one another")
		b.Do(t, press("Years over one another"), browsertest.Until(columns+` === 2`))
		browsertest.Want(t, b, lines, before, "the lines without the years are")
	})
	t.Run("eight lakes, and a ninth", func(t *testing.T) {
		names := []string{"Starnberger See", "Großer Eutiner See", "Gülper See"}
		for _, lake := range [][2]string{{"de_bb_beetzsee", "Beetzsee"}, {"de_bb_blankensee", "Blankensee"}, {"de_bb_breitlingsee", "Breitlingsee"}, {"de_bb_flakensee", "Flakensee"}} {
			names = append(names, lake[1])
			b.Do(t, openLake(lake[0]), comparedNames(lettered(append([]string{"Großer Müggelsee"}, names...))...))
		}
		checkAccess(t, b, "eight lakes compared")
		b.Do(t, openLake("de_by_grosser_brombachsee"), comparedNames(lettered(append(names, "Großer Brombachsee"))...), says("At most 8 lakes: Großer Müggelsee was removed."))
		for _, name := range names[3:] {
			b.Do(t, press("Remove "+name))
		}
		b.Do(t, comparedNames("A Starnberger See", "B Großer Eutiner See", "C Gülper See", "D Großer Brombachsee"))
	})
	t.Run("remove one, and open another", func(t *testing.T) {
		b.Do(t, press("Remove Gülper See"), comparedNames("A Starnberger See", "B Großer Eutiner See", "C Großer Brombachsee"))
		browsertest.Want(t, b, `document.activeElement.tagName`, "ARTICLE", "after removing a lake the focus is on")
		b.Do(t, press("Starnberger See"), browsertest.Until(`document.querySelector('#card h2').innerText === 'Starnberger See'`),
			comparedNames("A Starnberger See", "B Großer Eutiner See", "C Großer Brombachsee"))
	})
	t.Run("choose from the list", func(t *testing.T) {
		b.Do(t, press("Choose a lake"), browsertest.Until(`document.activeElement.id === 'q' && document.querySelector('#card').hidden`),
			openLake("de_be_grosser_mueggelsee"), comparedNames("A Starnberger See", "B Großer Eutiner See", "C Großer Brombachsee", "D Großer Müggelsee"))
	})
	t.Run("stop", func(t *testing.T) {
		b.Do(t, press("Stop comparing"), browsertest.Until(`document.querySelector('.compared').hidden && !location.hash.includes('compare')`))
		b.Do(t, openLake("de_bb_guelper_see"), says("Gülper See"), browsertest.Until(chartDrawn))
		browsertest.Expect(t, b, `document.querySelector('.compared').hidden`, true, "lakes are still compared")
	})
	wantNoProblems(t, b, base)
}

// A link opens a comparison, on the smallest phone too, light, dark and in forced colours. A lake that cannot be loaded says so.
func TestPageCompareOnAPhone(t *testing.T) {
	t.Parallel()
	base := startServer(t)
	for _, prefer := range [][2]string{{"color-scheme", "light"}, {"color-scheme", "dark"}, {"forced-colors", "active"}} {
		b := startBrowser(t, "de")
		b.Prefer(t, prefer[0], prefer[1])
		b.Do(t, chromedp.EmulateViewport(320, 640, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulateTouch),
			chromedp.Navigate(base+"/#lake=de_be_grosser_mueggelsee&compare=de_by_starnberger_see,de_bb_guelper_see"), browsertest.Until(chartDrawn),
			comparedNames("A Starnberger See", "B Gülper See", "C Großer Müggelsee"))
		checkAccess(t, b, strings.Join(prefer[:], " "))
		const wrong = `[...document.querySelectorAll('.compared *')].filter((e) => e.getBoundingClientRect().right > 320
			|| (e.matches('button') && e.getBoundingClientRect().height < 44 && !e.closest('.row'))).map((e) => e.outerHTML.slice(0, 80))`
		if found := browsertest.Ask(t, b, chromedp.Evaluate[[]string](wrong)); len(found) > 0 {
			t.Errorf("cut off or too small on a phone: %q", found)
		}
		b.Do(t, chromedp.Evaluate[chromedp.Void](`document.querySelector('.compared table').scrollIntoView()`))
		savePicture(t, b, "compare-"+prefer[1])
		wantNoProblems(t, b, base)
	}
	openPage(t, "en-GB", base+"/#lake=de_be_grosser_mueggelsee&compare=de_nosuch", comparedNames("A de_nosuch", "B Großer Müggelsee"), says("could not be loaded"))
}
