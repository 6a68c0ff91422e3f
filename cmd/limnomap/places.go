package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"limnomap/data/gazetteer"
)

// maxPlacesFile bounds a table of places and a gazetteer, in bytes.
const maxPlacesFile = 64 << 20

type placesCmd struct {
	File   string `arg:"" help:"CSV file with the places; - is standard input." placeholder:"FILE"`
	Out    string `help:"File to write, for limnomap serve --places; - is standard output." required:"" placeholder:"FILE"`
	Credit string `help:"Source of the places, which the page shows below them, such as GeoNames (CC BY 4.0)." placeholder:"TEXT"`
	Force  bool   `help:"Overwrite an existing file."`
}

func (placesCmd) Help() string {
	return `Makes a list of places and postcodes, which the page searches in place of its own list of Germany and the larger places of the world.
The columns name, lat and lon are required, in any order; population, region, country (two letters), postcode and other_names are optional. Rows
of one name and region within 25 km are one place, so that each postcode can have a row and a position of its own. Several postcodes or other
names in one row are separated by ; or |. A bad row is an error that names the row and the column, and nothing is written.
  limnomap places towns.csv --out places.json --credit "National mapping agency"
  limnomap serve --db lakes.db --places places.json`
}

func (c *placesCmd) Run(ctx context.Context, con *console) error {
	f, err := openFile(c.File)
	if err != nil {
		return err
	}
	defer f.Close()
	places, err := gazetteer.Read(&boundedReader{f, maxPlacesFile})
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	text, err := gazetteer.Encode(places, c.Credit)
	if err != nil {
		return err
	}
	codes := 0
	for i := range places {
		codes += len(places[i].Codes)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.Out == stdin {
		_, err := con.out.Write(text)
		return err
	}
	err = writeFiles([]string{c.Out}, c.Force, func(files []io.Writer) error {
		_, err := files[0].Write(text)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: %d places with %d postcodes, %d bytes\n", c.Out, len(places), codes, len(text))
	return err
}

// A boundedReader fails after a number of bytes.
type boundedReader struct {
	io.Reader
	left int
}

func (r *boundedReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if r.left -= n; r.left < 0 {
		return 0, fmt.Errorf("more than %d bytes", maxPlacesFile)
	}
	return n, err
}

// readPlaces reads a gazetteer and checks it, because the page trusts it. Without a name it returns nil.
func readPlaces(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(&boundedReader{f, maxPlacesFile})
	if err == nil {
		_, _, err = gazetteer.Decode(text)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--places: %s: %w", name, err), errors.New("limnomap places makes such a file from a CSV file"))
	}
	return text, nil
}
