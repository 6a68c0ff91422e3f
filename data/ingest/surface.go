package ingest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
)

// maxSurfaceDepth is the depth in metres down to which a sample is one of the surface, where blooms are and people bathe.
const maxSurfaceDepth = 2

// depthColumns are other names of the column depth, and depthBases all of them for one with a unit. Where a table has two depths, that of the upper end counts.
var (
	depthColumns = []string{"sample_depth", "sampledepth", "sampling_depth", "depth_m", "sample_depth_m", "sampling_depth_m", "depth_top", "top_depth", "depth_upper", "upper_depth", "depth_from", "depth_min", "min_depth", "depth_start", "parameterSampleDepth",
		"Tiefe", "Entnahmetiefe", "Probenahmetiefe", "Messtiefe", "profondeur", "profundidad", "profundidade", "profondità", "głębokość", "hloubka", "djup", "provtagningsdjup", "dyp", "dybde", "diepte", "syvyys",
		"Activity_DepthHeightMeasure", "ActivityDepthHeightMeasure/MeasureValue", "ActivityDepthHeightMeasure.MeasureValue"}
	depthBases       = plainNames(append([]string{"depth"}, depthColumns...))
	depthUnitColumns = []string{"depth_units", "depthunit", "sample_depth_unit", "Activity_DepthHeightMeasureUnit", "ActivityDepthHeightMeasure/MeasureUnitCode", "ActivityDepthHeightMeasure.MeasureUnitCode"}
	layerColumns     = []string{"depth_layer", "relative_depth", "sample_layer", "Activity_ActivityRelativeDepth", "ActivityRelativeDepthName"}
)

func plainNames(names []string) []string {
	plain := make([]string, len(names))
	for i, name := range names {
		plain[i] = plainName(name)
	}
	return plain
}

// Words for the surface of a lake, and for the layers below it, in addition to the names of layers of the Water Quality Portal.
var (
	surfaceWords = append([]string{"s", "0m", "top", "epilimnion", "oberfläche", "oberflächennah", "surfaces", "superficie", "superficial", "yta", "ytan", "overflate", "overflade", "oppervlak", "powierzchnia", "hladina", "pinta", "euphotic zone", "euphotic"}, wqpSurfaceLayers...)
	deepWords    = []string{"b", "bottom", "midwater", "near bottom", "metalimnion", "thermocline", "hypolimnion", "deep", "grund", "tief", "boden", "fond", "fondo", "botten", "bunn", "bund", "dno", "pohja"}
)

// checkDepth leaves out a sample that begins so far below the surface. Some organizations write depths as negative heights.
func (r *row) checkDepth(metres float64) {
	if r.err == nil && math.Abs(metres) > maxSurfaceDepth {
		r.fail(leftOut(fmt.Sprintf("deeper than %d m", maxSurfaceDepth)))
	}
}

// depthRange returns the beginning of a range of depths such as 0-2, or a single depth.
func depthRange(s string) string {
	for _, mark := range []string{"..", "–", "—", " to ", " bis ", "/", "-"} {
		if i := strings.Index(s, mark); i > 0 && i+len(mark) < len(s) && digits(strings.TrimSpace(s[i+len(mark):])) > 0 {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}

// checkSurface leaves out a sample in a table that is not one of the surface. One without a depth is.
func (r *row) checkSurface() {
	s := r.text(obsDepth)
	if s == "" {
		layer := r.lower(obsLayer)
		if layer != "" && !slices.Contains(surfaceWords, layer) {
			r.fail(leftOut("below the surface, in the layer " + fmt.Sprintf("%.60q", layer)))
		}
		return
	}
	switch word := strings.ToLower(s); {
	case slices.Contains(surfaceWords, word):
		return
	case slices.Contains(deepWords, word):
		r.fail(leftOut("below the surface, in the layer " + fmt.Sprintf("%.60q", word)))
		return
	}
	number, unit := depthRange(strings.TrimSpace(strings.TrimLeft(s, "<~≤"))), ""
	if i := strings.IndexFunc(number, unicode.IsLetter); i > 0 {
		number, unit = strings.TrimSpace(number[:i]), number[i:]
	}
	if unit == "" {
		unit = r.text(obsDepthUnit)
	}
	column := &r.columns[obsDepth]
	u := unitFactor{1, 0}
	if unit != "" {
		var ok bool
		if u, ok = r.unitOf(lengthUnits, unit); !ok {
			r.bad(obsDepth, s, "a depth in one of the units "+lengthUnits.shown)
			return
		}
	}
	depth, err := r.parseNumber(obsDepth, number, column.in)
	if err != nil {
		return
	}
	if unit == "" {
		depth = column.fromUnit(depth)
	}
	r.checkDepth(depth * u.factor)
}
