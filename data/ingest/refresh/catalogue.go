package refresh

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

const (
	maxCatalogueRows = 1_000_000
	maxCatalogueLine = 64 << 10
	// maxListed is how many rows of a catalogue are held before the older ones are left out.
	maxListed = 2 * maxRasters
)

// addressColumns are the columns of a catalogue with addresses, the preferred one first.
var addressColumns = []string{"url", "href", "s3_path"}

// stampColumns are the columns of a catalogue whose values change when a file changes.
var stampColumns = []string{"content_length", "size", "checksum", "md5", "etag", "modification_date", "modified", "last_modified", "publication_date"}

// A catalogueHeader says which column of a catalogue is which. A column that is missing is -1.
type catalogueHeader struct {
	separator rune
	columns   int
	id, name  int
	addresses []int
	stamps    []int
}

// parseCatalogueHeader parses the first line of a file. It reports false if the file is not a list of files: a table of lakes has columns of
// the same names, but also the place of each lake.
func parseCatalogueHeader(line string) (h catalogueHeader, ok bool) {
	line = strings.TrimPrefix(line, "\uFEFF")
	for _, separator := range []rune{';', ',', '\t', '|'} {
		fields, err := splitRow(line, separator)
		if err != nil {
			continue
		}
		for i, f := range fields {
			fields[i] = strings.ToLower(strings.TrimSpace(f))
		}
		find := func(name string) int { return slices.Index(fields, name) }
		h = catalogueHeader{separator: separator, columns: len(fields), id: find("id"), name: find("name")}
		for _, name := range addressColumns {
			if i := find(name); i >= 0 {
				h.addresses = append(h.addresses, i)
			}
		}
		for _, name := range stampColumns {
			if i := find(name); i >= 0 {
				h.stamps = append(h.stamps, i)
			}
		}
		if h.id >= 0 && h.name >= 0 && len(h.addresses) > 0 && (find("lat") < 0 || find("lon") < 0) {
			return h, true
		}
	}
	return catalogueHeader{}, false
}

// splitRow splits a line of CSV.
func splitRow(line string, separator rune) ([]string, error) {
	if !strings.Contains(line, `"`) { // as most of a million
		return strings.Split(line, string(separator)), nil
	}
	r := csv.NewReader(strings.NewReader(line))
	r.Comma, r.LazyQuotes = separator, true
	return r.Read()
}

// lines returns a scanner of lines of at most maxCatalogueLine bytes.
func lines(r io.Reader) *bufio.Scanner {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), maxCatalogueLine)
	return s
}

// isCatalogue reports whether a file is a list of satellite files.
func isCatalogue(f *file) (bool, error) {
	from, err := f.open()
	if err != nil {
		return false, err
	}
	defer from.Close()
	s := lines(from)
	if !s.Scan() {
		return false, nil // another package says what is wrong
	}
	return isCatalogueHeader(s.Text()), nil
}

// firstLine returns the first line that a reader will return, "" if it is longer than that of a catalogue, or does not arrive.
func firstLine(r *bufio.Reader) string {
	for seen := 0; seen < maxCatalogueLine; {
		_, err := r.Peek(seen + 1)
		line, _ := r.Peek(r.Buffered())
		if end := bytes.IndexByte(line[seen:], '\n'); end >= 0 {
			return string(line[:seen+end])
		}
		seen = len(line)
		if err != nil {
			return string(line)
		}
	}
	return ""
}

func isCatalogueHeader(line string) bool {
	_, is := parseCatalogueHeader(strings.TrimSuffix(line, "\r"))
	return is
}

// A catalogueReader makes the rows of a catalogue the satellite files of a source.
type catalogueReader struct {
	refresher *Refresher
	from      source       // of the catalogue
	client    *http.Client // for addresses in it
	header    catalogueHeader

	rasters []*raster
	skipped int64 // older files
	ignored int   // rows without an address that can be used
	paths   int   // of these, rows that need Options.CatalogueBase
	reason  error // why the first of them was ignored
}

var errNoAddress = fmt.Errorf("no address of a file that ends in %s in the column %s", strings.Join(rasterEndings, ", "), strings.Join(addressColumns, " or "))

// readCatalogue returns the newest satellite files in a list, and how many older ones were left out.
func (r *Refresher) readCatalogue(p source, f *file) ([]*raster, int64, error) {
	from, err := f.open()
	if err != nil {
		return nil, 0, fault(folderReason, "%w", err)
	}
	defer from.Close()
	c := &catalogueReader{refresher: r, from: p, client: r.client}
	if p.url != nil && !isLoopbackName(p.url.Hostname()) {
		client := *r.client
		client.Transport = elsewhere{client.Transport}
		c.client = &client
	}
	s := lines(from)
	for n := 0; s.Scan(); n++ {
		switch {
		case n == 0:
			c.header, _ = parseCatalogueHeader(s.Text())
		case n > maxCatalogueRows:
			return nil, 0, fault(sizeReason, "%s has more than %d rows: leave out older files", f.name, maxCatalogueRows)
		case strings.TrimSpace(s.Text()) != "":
			if err := c.row(s.Text()); err != nil {
				if c.ignored++; c.ignored == 1 {
					c.reason = fmt.Errorf("line %d: %w", n+1, err)
				}
			}
		}
	}
	if err := s.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, 0, fault(formReason, "%s has a line of more than %d bytes", f.name, maxCatalogueLine)
	} else if err != nil {
		return nil, 0, fault(folderReason, "%s: %w", f.name, err)
	}
	if len(c.rasters) == 0 && c.paths > 0 {
		return nil, 0, fault(catalogueReason, "%s has %d files with an s3_path, and none with an http:// or https:// address: "+
			"set catalogue-base to the URL of a gateway that serves these paths", f.name, c.paths)
	}
	if len(c.rasters) == 0 && c.ignored > 0 {
		return nil, 0, fault(catalogueReason, "%s has %d rows, and none that can be used: %w", f.name, c.ignored, c.reason)
	}
	if c.ignored > 0 {
		r.log.Warn("refresh: rows of a list of satellite files are ignored", slog.String("list", f.name), slog.Int("rows", c.ignored), slog.Any("first", c.reason))
	}
	return c.rasters, c.skipped, nil
}

// row adds the file of a row.
func (c *catalogueReader) row(line string) error {
	fields, err := splitRow(line, c.header.separator)
	if err != nil {
		return err
	}
	if len(fields) != c.header.columns {
		return fmt.Errorf("it has %d columns: want %d, as in the header", len(fields), c.header.columns)
	}
	u, client, err := c.address(fields)
	if err != nil {
		return err
	}
	stamp := []string{fields[c.header.id]}
	for _, i := range c.header.stamps {
		stamp = append(stamp, fields[i])
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path} // a query may be a signature that changes
	c.rasters = append(c.rasters, c.refresher.urlRaster(u, keyOf(plain.String()), keyOf(strings.Join(stamp, "\n")), client))
	if len(c.rasters) > maxListed {
		all := len(c.rasters)
		c.rasters = newest(c.rasters, c.refresher.opts.Newest)
		c.skipped += int64(all - len(c.rasters))
	}
	return nil
}

// address returns the URL of the file in a row, and the client that may request it.
func (c *catalogueReader) address(fields []string) (*url.URL, *http.Client, error) {
	reason := errNoAddress
	for _, i := range c.header.addresses {
		text := strings.TrimSpace(fields[i])
		scheme, rest, isURL := strings.Cut(text, "://")
		if isURL && (scheme == "http" || scheme == "https") {
			u, err := url.Parse(text)
			switch {
			case err != nil || u.Host == "":
				reason = errors.New("its address is not a URL") // without it: it may contain a secret
			case c.from.url != nil && c.from.url.Scheme == "https" && scheme != "https":
				reason = fmt.Errorf("its address has the scheme %s: want https, as that of the list", scheme)
			case isRasterURL(u):
				u.Fragment, u.RawFragment = "", ""
				if c.from.url != nil && u.User == nil && u.Scheme == c.from.url.Scheme && u.Host == c.from.url.Host {
					u.User = c.from.url.User
				}
				return u, c.client, nil
			}
			continue
		}
		if !isURL {
			rest = text
		} else if scheme != "s3" {
			continue
		}
		file, ok := fileInFolder(rest)
		switch base := c.refresher.opts.CatalogueBase; {
		case !ok:
		case base == nil:
			c.paths++
		default:
			return base.JoinPath((&url.URL{Path: file}).EscapedPath()), c.refresher.client, nil // in a path of S3, % is a character as any other
		}
	}
	return nil, nil, reason
}

// fileInFolder returns the path of the satellite file that an s3_path stands for. Copernicus names the folder of a NetCDF file like the file,
// with _nc for its ending. A folder of several files, such as those that end in _cog, is not known file by file.
func fileInFolder(s3 string) (string, bool) {
	s3 = path.Clean("/" + s3)
	if base, isFolder := strings.CutSuffix(path.Base(s3), "_nc"); isFolder {
		s3 = path.Join(s3, base+".nc")
	}
	return s3, isRaster(path.Base(s3))
}
