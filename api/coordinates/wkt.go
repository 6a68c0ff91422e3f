package coordinates

// The parts of wkts, by the parameters of the EPSG registry.
const (
	wgs84  = `GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]`
	etrs89 = `GEOGCS["ETRS89",DATUM["European_Terrestrial_Reference_System_1989",SPHEROID["GRS 1980",6378137,298.257222101]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]`
	utm    = `PROJECTION["Transverse_Mercator"],PARAMETER["latitude_of_origin",0],PARAMETER["scale_factor",0.9996],PARAMETER["false_easting",500000],PARAMETER["false_northing",0]`
	metres = `UNIT["metre",1]`
	// eastFirst and northFirst are the order of axes.
	eastFirst  = `,AXIS["Easting",EAST],AXIS["Northing",NORTH]`
	northFirst = `,AXIS["Northing",NORTH],AXIS["Easting",EAST]`
)

// wkts are the systems as well-known text (OGC 01-009), by name.
var wkts = map[string]string{
	"CRS:84":    wgs84 + `,AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]`,
	"EPSG:4326": wgs84 + `,AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]`,
	"EPSG:3857": `PROJCS["WGS 84 / Pseudo-Mercator",` + wgs84 + `],PROJECTION["Mercator_1SP"],PARAMETER["central_meridian",0],PARAMETER["scale_factor",1],PARAMETER["false_easting",0],PARAMETER["false_northing",0],` +
		metres + eastFirst + `,EXTENSION["PROJ4","+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +units=m +nadgrids=@null +no_defs"],AUTHORITY["EPSG","3857"]]`,
	"EPSG:25832": `PROJCS["ETRS89 / UTM zone 32N",` + etrs89 + "," + utm + `,PARAMETER["central_meridian",9],` + metres + eastFirst + `,AUTHORITY["EPSG","25832"]]`,
	"EPSG:25833": `PROJCS["ETRS89 / UTM zone 33N",` + etrs89 + "," + utm + `,PARAMETER["central_meridian",15],` + metres + eastFirst + `,AUTHORITY["EPSG","25833"]]`,
	"EPSG:3035": `PROJCS["ETRS89-extended / LAEA Europe",` + etrs89 + `,PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["latitude_of_center",52],PARAMETER["longitude_of_center",10],` +
		`PARAMETER["false_easting",4321000],PARAMETER["false_northing",3210000],` + metres + northFirst + `,AUTHORITY["EPSG","3035"]]`,
}

// WKT returns the system as well-known text (OGC 01-009).
func (s *System) WKT() string { return wkts[s.Name] }
