// Package gazetteer checks a list of places that the page searches without a server.
//
// A place has names, a region and a position, and may have postcodes, each with a position of its own. web/mkplaces.mjs makes such a list from a
// table, and the build of the page its own one in the same format: a JSON object of texts, each a column of all places in one order, because that
// compresses well.
//
//	credit             the source, which the page shows
//	regions            a list; two capital letters are a country, which the page shows by its name
//	names              of each place, one line each; its first name is followed by the others, each after |
//	region, lat, lon   of each place: the index of its region, and its position in hundredths of a degree, each as the difference from the place before
//	size               of each place: the logarithm to base 2 of its inhabitants, a digit of base 36; 0 if unknown
//	codes              of each place, one line each: postcodes after spaces. A postcode of the length of the one before it is written without the
//	                   letters and digits that both begin with; another one is written after =
//	codeLat, codeLon   of each postcode in that order: its position, as the difference from that of its place
//
// Numbers are written as source maps have them: Base64 digits of five bits each, the lowest first, with a sixth bit if more follow; the sign is the
// lowest bit. Latitude and longitude are in degrees of WGS 84.
package gazetteer
