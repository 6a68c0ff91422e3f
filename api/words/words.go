package words

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"golang.org/x/text/language"
)

// Languages are those of the pages that the server makes, the default first. A page in another language of the reader is in the default one.
var Languages = []string{"en", "de", "fr", "pl", "cs", "da", "nl"}

// Words are the texts that all pages share, in one language.
type Words struct {
	Language string `json:"-"`
	Format   Format `json:"-"`

	// The rest are words of the map.

	Common struct {
		Title, Colon, Chlorophyll, NoValue, Measured, Values, Never, Limits, LimitsAlgae, LimitsMore, Simulated string
		About, Table, Data, Contact, Imprint, Privacy, Accessibility                                            string // of the links at the foot
	}
	Risk      map[string]string
	RiskShort map[string]string
	Verdict   map[string]string // whether to swim, by what SwimName returns
	People    struct{ Swimmer, Child, Dog advice }
	Lake      struct{ Report, Counted, Index, LastRisk, LastKnown string }
	Card      struct {
		Trophic, LastMeasured           string
		TrophicNames                    map[string]string
		By                              map[string]string
		Meaning, PastMeaning, WorseHelp map[string]string // what to do at each risk, and why it is worse than the value
		NoValueHelp, OldHelp, Below     string
		Scum, Share, Ice, Turbidity     string // what an observation says beside its value
		Secchi, Temperature             string
		Index                           string            // of a value that is from an index of cyanobacteria
		Composite                       map[string]string // how the values of {n} days became one, and with Week those of a week
	}
	Advisory struct {
		Kinds, Causes, Help      map[string]string
		Until, Open, Link, Algae string
	}
	Chart  struct{ Flags map[string]string }
	Legend struct{ First, Middle, Last, FirstAbove, MiddleAbove, LastAbove, Profile, Quotes string }
}

// An advice is what a verdict means for one kind of bather.
type advice struct{ Name, No, Medium, Low, Look string }

// A Page has the words of one page in one language.
type Page[Own any] struct {
	*Words
	Own Own // only this page has them
}

// A Set has the words of one page in all languages.
type Set[Own any] struct {
	pages   []*Page[Own] // in the order of Languages, those that the page has
	matcher language.Matcher
}

// Load reads the words of a page from its files: its own from that folder. The page has the languages of the folder.
func Load[Own any](files fs.FS, folder string) (*Set[Own], error) {
	s := &Set[Own]{}
	var tags []language.Tag
	for _, l := range Languages {
		tag, err := language.Parse(l)
		if err != nil {
			return nil, fmt.Errorf("language %q: %w", l, err)
		}
		if _, err := fs.Stat(files, folder+"/"+l+".json"); l != Languages[0] && errors.Is(err, fs.ErrNotExist) {
			continue // the page is not translated yet
		}
		p := &Page[Own]{Words: &Words{Language: l, Format: Format{tag: tag}}}
		for _, part := range []struct {
			folder string
			into   any
		}{{"src/words", p.Words}, {"pages", &p.Format}, {folder, &p.Own}} {
			if err := read(files, part.folder+"/"+l+".json", part.into); err != nil {
				return nil, err
			}
		}
		s.pages, tags = append(s.pages, p), append(tags, tag)
	}
	s.matcher = language.NewMatcher(tags)
	return s, nil
}

// read reads a file of words. It does not look for missing words: tests ensure that there are none.
func read(files fs.FS, name string, into any) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// All returns the words in all languages of the page, in the order of Languages.
func (s *Set[Own]) All() []*Page[Own] { return s.pages }

// For returns the words in the chosen language, one of Languages, or otherwise in the one that the reader prefers by the values of the header
// field Accept-Language.
func (s *Set[Own]) For(chosen string, accept []string) *Page[Own] {
	if i := slices.IndexFunc(s.pages, func(p *Page[Own]) bool { return p.Language == chosen }); i >= 0 {
		return s.pages[i]
	}
	_, i := language.MatchStrings(s.matcher, accept...)
	return s.pages[i]
}

// Notice returns the notice of the server, which is in English, in the language of the words. Any notice means that the data are simulated, as
// on the map.
func (w *Words) Notice(notice string) string {
	if notice != "" && w.Language != Languages[0] {
		return w.Common.Simulated
	}
	return notice
}

// A Link is an address of the same page in another language.
type Link struct{ Language, Name, Address string }

// Others returns links to a page in each other language. The address of a language is what at returns.
func (s *Set[Own]) Others(than *Page[Own], at func(language string) string) []Link {
	var links []Link
	for _, p := range s.pages {
		if p != than {
			links = append(links, Link{p.Language, p.Format.Language, at(p.Language)})
		}
	}
	return links
}
