package ogc

import "encoding/xml"

// The elements of a WMTS capabilities document (WMTS 1.0.0, table 3; its schema is wmtsGetCapabilities_response.xsd, 1.0),
// each with its children in the order of the schema. encoding/xml escapes the values.

type wmtsCapabilities struct {
	XMLName        xml.Name          `xml:"Capabilities"`
	Namespace      string            `xml:"xmlns,attr"`
	OWS            string            `xml:"xmlns:ows,attr"`
	XLink          string            `xml:"xmlns:xlink,attr"`
	XSI            string            `xml:"xmlns:xsi,attr"`
	SchemaLocation string            `xml:"xsi:schemaLocation,attr"`
	Version        string            `xml:"version,attr"`
	Identification owsIdentification `xml:"ows:ServiceIdentification"`
	Operations     []owsOperation    `xml:"ows:OperationsMetadata>ows:Operation"`
	Layer          wmtsLayer         `xml:"Contents>Layer"`
	MatrixSet      wmtsMatrixSet     `xml:"Contents>TileMatrixSet"`
	Self           xlinkRef          `xml:"ServiceMetadataURL"`
}

type owsIdentification struct {
	Title       string   `xml:"ows:Title"`
	Abstract    string   `xml:"ows:Abstract"`
	Keywords    []string `xml:"ows:Keywords>ows:Keyword"`
	ServiceType string   `xml:"ows:ServiceType"`
	Version     string   `xml:"ows:ServiceTypeVersion"`
}

type owsOperation struct {
	Name string   `xml:"name,attr"`
	Gets []owsGet `xml:"ows:DCP>ows:HTTP>ows:Get"`
}

type owsGet struct {
	Href       string        `xml:"xlink:href,attr"`
	Constraint owsConstraint `xml:"ows:Constraint"`
}

type owsConstraint struct {
	Name   string   `xml:"name,attr"`
	Values []string `xml:"ows:AllowedValues>ows:Value"`
}

type xlinkRef struct {
	Href string `xml:"xlink:href,attr"`
}

type wmtsLayer struct {
	Title       string         `xml:"ows:Title"`
	Abstract    string         `xml:"ows:Abstract"`
	Bounds      wgs84Bounds    `xml:"ows:WGS84BoundingBox"`
	Identifier  string         `xml:"ows:Identifier"`
	Styles      []wmtsStyle    `xml:"Style"`
	Format      string         `xml:"Format"`
	InfoFormats []string       `xml:"InfoFormat"`
	Dimension   *wmtsDimension `xml:"Dimension"` // nil without any week
	MatrixSet   string         `xml:"TileMatrixSetLink>TileMatrixSet"`
	Resources   []wmtsTemplate `xml:"ResourceURL"`
}

// wgs84Bounds has longitudes before latitudes (OWS 1.1.0, section 10.2.2), unlike all other uses of EPSG:4326.
type wgs84Bounds struct {
	Lower string `xml:"ows:LowerCorner"`
	Upper string `xml:"ows:UpperCorner"`
}

type wmtsStyle struct {
	Default    bool       `xml:"isDefault,attr"`
	Title      string     `xml:"ows:Title"`
	Abstract   string     `xml:"ows:Abstract"`
	Identifier string     `xml:"ows:Identifier"`
	Legend     wmtsLegend `xml:"LegendURL"`
}

type wmtsLegend struct {
	Format string `xml:"format,attr"`
	Href   string `xml:"xlink:href,attr"`
}

type wmtsDimension struct {
	Identifier string   `xml:"ows:Identifier"`
	UOM        string   `xml:"ows:UOM"`
	Default    string   `xml:"Default"`
	Current    bool     `xml:"Current"`
	Values     []string `xml:"Value"`
}

type wmtsTemplate struct {
	Format   string `xml:"format,attr"`
	Type     string `xml:"resourceType,attr"`
	Template string `xml:"template,attr"`
}

type wmtsMatrixSet struct {
	Title      string       `xml:"ows:Title"`
	Identifier string       `xml:"ows:Identifier"`
	CRS        string       `xml:"ows:SupportedCRS"`
	ScaleSet   string       `xml:"WellKnownScaleSet,omitempty"`
	Matrices   []wmtsMatrix `xml:"TileMatrix"`
}

type wmtsMatrix struct {
	Identifier int    `xml:"ows:Identifier"`
	Scale      string `xml:"ScaleDenominator"`
	Corner     string `xml:"TopLeftCorner"`
	TileWidth  int    `xml:"TileWidth"`
	TileHeight int    `xml:"TileHeight"`
	Width      int    `xml:"MatrixWidth"`
	Height     int    `xml:"MatrixHeight"`
}
