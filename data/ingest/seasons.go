package ingest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"limnomap/data"
)

// The EEA's lists of all seasons have a row for each season of a site, whose name and place may differ from year to year. The newest one counts.

// errSeason is for the rows of a site's other seasons.
const errSeason = leftOut("another season of the same site: the newest one counts")

// maxSeasonSites bounds the sites with seasons in one import. The EEA's list has 24,000.
const maxSeasonSites = 1_000_000

// season returns the year of a row; 0 if it has none.
func (r *row) season() int {
	s := r.text(lakeSeason)
	if len(s) < 4 || digits(s[:4]) < 4 {
		return 0
	}
	year, err := strconv.Atoi(s[:4])
	if err != nil || year < firstYear || year > lastYear {
		return 0
	}
	return year
}

// seasons has the newest season of each site.
type seasons map[data.LakeID]int

// sources returns one source for each file. If a file has seasons, all files are read first, to find the newest season of each site.
func (k lakeKind) sources(in *input, files []File) []source[data.Lake] {
	k.newest = sync.OnceValues(func() (seasons, error) {
		newest := make(seasons)
		return newest, newest.read(in, k.layout, files)
	})
	all := make([]source[data.Lake], len(files))
	for i, f := range files {
		all[i] = fileSource[data.Lake](k, i, f)
	}
	return all
}

// checkSeason leaves out a row of a season that is not the newest of its site.
func (k lakeKind) checkSeason(r *row, id data.LakeID) {
	if k.newest == nil || r.has.lacks(lakeSeason) || r.err != nil {
		return
	}
	newest, err := k.newest()
	if r.fail(err) == nil && r.season() < newest[id] {
		r.fail(errSeason)
	}
}

// read reads the seasons of the sites of all files. Files that cannot be read are left to the import, which explains why.
func (s seasons) read(in *input, l *layout, files []File) error {
	for _, f := range files {
		if err := s.readFile(in, l, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return nil
}

func (s seasons) readFile(in *input, l *layout, f File) error {
	rs, closeFile, err := in.openRows(f, l, true)
	if err != nil {
		return nil
	}
	defer closeFile()
	if t, ok := rs.(*table); ok && t.has.lacks(lakeSeason) {
		return nil
	}
	for n := 0; n <= maxRows && (in.maxBytes == 0 || rs.offset() <= in.maxBytes); n++ {
		r, err := rs.next()
		if _, isBad := errors.AsType[badRow](err); isBad {
			continue
		}
		if err != nil { // its end, or what the import explains
			return nil
		}
		year := r.season()
		if id := r.lakeID(lakeID, ""); r.err == nil && s[id] < year {
			if len(s) == maxSeasonSites {
				return tooLarge("an import takes at most %d sites with seasons: divide the files among several imports", maxSeasonSites)
			}
			s[data.LakeID(strings.Clone(string(id)))] = year
		}
	}
	return nil
}
