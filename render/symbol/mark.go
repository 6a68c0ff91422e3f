package symbol

import "image/color"

// A Mark is the symbol of one lake in a picture about it.
type Mark struct {
	Class  Class
	Closed bool // by an official statement
	Worse  bool // than the colour of the value shows, or an authority warns
	Old    bool // the value says nothing about the water now
}

// Shapes returns the shapes of the mark around a marker of that radius. Each covers those before it.
func (m Mark) Shapes(radius float64) []Shape {
	switch {
	case m.Closed:
		return Closed.Shapes(m.Class, radius)
	case m.Old && m.Class != None:
		return m.Class.OldShapes(radius)
	case m.Worse:
		return Worse.Shapes(m.Class, radius)
	}
	return m.Class.Shapes(radius)
}

// A Stroke is a line with round ends, its width and its points as parts of the radius of the marker.
type Stroke struct {
	Width  float64
	Points [][2]float64
}

// strokesRadius is the radius of the page's symbols, in whose unit the signs below are given.
const strokesRadius = 8.6

// Strokes returns the sign within the symbol of a class, as on the page: large symbols have it, so that the classes differ by more than
// their outlines. A closed lake has none: its bar is one of the shapes.
func (m Mark) Strokes() []Stroke {
	if m.Closed {
		return nil
	}
	var lines [][][2]float64
	switch m.Class {
	case Low: // a wave
		lines = [][][2]float64{{{-5, .4}, {-4, -.9}, {-3, -1.7}, {-2.3, -1.8}, {-1.5, -1.5}, {-.7, -.8}, {0, 0}, {.7, .8}, {1.5, 1.5}, {2.3, 1.8}, {3, 1.7}, {4, .9}, {5, -.4}}}
	case Medium: // an exclamation mark
		lines = [][][2]float64{{{0, -4.6}, {0, 1.2}}, {{0, 4.7}, {0, 4.71}}}
	case High: // a cross
		lines = [][][2]float64{{{-3.5, -3.5}, {3.5, 3.5}}, {{3.5, -3.5}, {-3.5, 3.5}}}
	case None: // a question mark
		lines = [][][2]float64{{{-2.3, -2.2}, {-2.1, -3.2}, {-1.4, -4}, {-.5, -4.45}, {.5, -4.4}, {1.5, -3.9}, {2.1, -3.1}, {2.25, -2.2}, {2, -1.1}, {1.4, -.3}, {.5, .3}, {.1, .8}, {0, 1.5}}, {{0, 4.2}, {0, 4.21}}}
	}
	strokes := make([]Stroke, len(lines))
	for i, points := range lines {
		strokes[i] = Stroke{Width: 2.2 / strokesRadius, Points: points}
		for j, p := range points {
			points[j] = [2]float64{p[0] / strokesRadius, p[1] / strokesRadius}
		}
	}
	return strokes
}

// SignColor returns the colour of the strokes: it contrasts with that of the class.
func (m Mark) SignColor() color.NRGBA {
	if m.Class == High && !m.Old {
		return WhiteColor()
	}
	return DarkColor()
}
