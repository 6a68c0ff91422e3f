package main

import (
	"slices"

	"limnomap/api"
	"limnomap/data/ingest/satellite"
)

// creditsOf returns the credit lines of the products that have values from these sources, each once, in the order of the products.
func creditsOf(sources []string) []api.Credit {
	var credits []api.Credit
	for _, product := range satellite.Products() {
		credit := api.Credit{Text: product.Credit, URL: product.CreditURL}
		if credit.Text != "" && !slices.Contains(credits, credit) && slices.ContainsFunc(sources, func(source string) bool {
			of, ok := satellite.OfSource(source)
			return ok && of.ID == product.ID
		}) {
			credits = append(credits, credit)
		}
	}
	return credits
}
