// Command mkplaces makes a list of places, which the page of limnomap searches, from a CSV file:
//
//	go run ./data/gazetteer/mkplaces -credit "National mapping agency" <towns.csv >places.json
//
// Package gazetteer describes the columns and the list. A bad row is an error that names the row and the column, and nothing is written.
package main

import (
	"flag"
	"log"
	"os"

	"limnomap/data/gazetteer"
)

func main() {
	log.SetFlags(0)
	credit := flag.String("credit", "", "source of the places, which the page shows below them, such as GeoNames (CC BY 4.0)")
	flag.Parse()
	places, err := gazetteer.Read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	text, err := gazetteer.Encode(places, *credit)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		log.Fatal(err)
	}
}
