package main

import (
	"errors"
	"fmt"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/gazetteer"
)

// maxPlacesFile bounds a list of places, in bytes.
const maxPlacesFile = 64 << 20

// readPlaces reads a list of places and checks it, because the page trusts it. Without a name it returns nil.
func readPlaces(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	text, err := config.ReadFile(name, maxPlacesFile)
	if err == nil {
		err = gazetteer.Check(text)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--places: %s: %w", name, err), errors.New("docs/importing.md says how such a file is made from a CSV file"))
	}
	return text, nil
}
