package satellite

import (
	"fmt"
	"strings"
)

// A ProductID names a product, as on the command line.
type ProductID string

// The products that are known by name.
const (
	LWQ       ProductID = "lwq"       // Copernicus Lake Water Quality, 300 m and 100 m
	LakesCCI  ProductID = "lakes-cci" // ESA Lakes Climate Change Initiative
	CyAN      ProductID = "cyan"      // EPA CyAN from version 5 on
	CyANv1    ProductID = "cyan-v1"   // EPA CyAN version 1
	NOAACI    ProductID = "noaa-ci"   // cyanobacteria index of NOAA
	OwnRaster ProductID = "chl"       // chlorophyll from any program, such as ACOLITE, C2RCC, SNAP or openEO
)

// A Product is a series of satellite files that are read in the same way.
type Product struct {
	ID    ProductID
	Title string // for people
	// Source begins the [data.Observation.Source] of its values. Files of one product that must not be compared, such as those of another
	// resolution or algorithm, have sources with different endings.
	Source string
	// Credit is the line that the provider wants to be named with, and CreditURL says more about its terms. Both are empty if the operator
	// must know them.
	Credit, CreditURL string
}

// products are all products, in the order in which they are shown.
var products = []Product{
	{ID: LWQ, Title: "Copernicus Lake Water Quality", Source: "Copernicus LWQ",
		// Terms of the Copernicus Land Monitoring Service: https://land.copernicus.eu/en/data-policy
		Credit:    "European Union's Copernicus Land Monitoring Service information",
		CreditURL: "https://land.copernicus.eu/en/products/water-bodies"},
	{ID: LakesCCI, Title: "ESA Lakes Climate Change Initiative", Source: "ESA Lakes CCI",
		// CC BY 4.0, as the catalogue of the CEDA archive says.
		Credit:    "ESA Lakes Climate Change Initiative (Lakes_cci), CC BY 4.0",
		CreditURL: "https://climate.esa.int/projects/lakes/"},
	{ID: CyAN, Title: "EPA CyAN, version 5 or later", Source: "EPA CyAN", Credit: cyanCredit, CreditURL: cyanURL},
	{ID: CyANv1, Title: "EPA CyAN, version 1", Source: "EPA CyAN V1", Credit: cyanCredit, CreditURL: cyanURL},
	{ID: NOAACI, Title: "NOAA cyanobacteria index", Source: "NOAA CI",
		Credit:    "NOAA National Centers for Coastal Ocean Science",
		CreditURL: "https://coastalscience.noaa.gov/"},
	{ID: OwnRaster, Title: "chlorophyll raster", Source: "chlorophyll raster"},
}

// CyAN is made by agencies of the United States and is in the public domain; they ask to be named.
const (
	cyanCredit = "Cyanobacteria Assessment Network (CyAN) of US EPA, NASA, NOAA and USGS"
	cyanURL    = "https://www.epa.gov/water-research/cyanobacteria-assessment-network-cyan"
)

// Products returns all products.
func Products() []Product { return append([]Product(nil), products...) }

// ProductOf returns the product with that ID.
func ProductOf(id ProductID) (Product, error) {
	var known []string
	for _, p := range products {
		if p.ID == id {
			return p, nil
		}
		known = append(known, string(p.ID))
	}
	return Product{}, fmt.Errorf("product %.40q: want one of %s", id, strings.Join(known, ", "))
}

// OfSource returns the product whose files have values of that source. It reports false for others, such as laboratories.
func OfSource(source string) (Product, bool) {
	var found Product
	for _, p := range products {
		rest, ok := strings.CutPrefix(source, p.Source)
		if ok && len(p.Source) > len(found.Source) && (rest == "" || !isLetter(rest[0])) {
			found = p
		}
	}
	return found, found.ID != ""
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
