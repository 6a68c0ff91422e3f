package crs

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPoints has points by PROJ 9.1.1, for machines without it. TestPROJ has more.
func TestPoints(t *testing.T) {
	for _, c := range []struct {
		code           int
		lon, lat, x, y float64
	}{
		{4326, 9.4, 47.6, 9.4, 47.6},
		{3857, 9.4, 47.6, 1046403.21346, 6040565.20878},
		{3857, -179.9, -85, -20026376.39371, -19971868.88041},
		{3857, 0, 0, 0, 0},
		{32632, 9.4, 47.6, 530068.10033, 5271920.94910},
		{32632, 3.2, 83.9, 431304.44326, 9320390.48378},
		{32632, 15, 0, 1168881.68853, 0},
		{32632, 9, 60, 500000, 6651411.19036},
		{32733, 15, -33.5, 500000, 6293280.77950},
		{32733, 12.1, -79, 438251.32751, 1228491.65521},
		{32601, -179.99, 52, 294757.35983, 5765259.96024},
		{32601, 180.01, 52, 294757.35983, 5765259.96024},
		{25832, 9.4, 47.6, 530068.10033, 5271920.94898},
		{25832, 6, 54.5, 305744.27856, 6043296.08404},
		{26917, -81.2, 42.3, 483514.49967, 4683105.11917},
		{26917, -84, 28, 204956.51142, 3100830.81806},
		{3035, 10, 52, 4321000, 3210000},
		{3035, 9.4, 47.6, 4275850.82756, 2720892.28085},
		{3035, -24.3, 64.9, 2763870.51807, 5038214.47601},
		{3035, 28.7, 61.2, 5316005.10681, 4366097.35936},
		{5070, -96, 23, 0, 0},
		{5070, -73.3, 44.5, 1783692.59180, 2604098.53576},
		{5070, -120.05, 39.1, -2038773.06999, 2045479.53641},
		{5070, -80.9, 26.95, 1502615.46236, 551810.95602},
		{3338, -154, 50, 0, 0},
		{3338, 172.5, 52.9, -2166832.19526, 879136.43196},
		{3577, 146.6, -42.1, 1237203.90313, -4673307.09453},
		{6931, 0, 90, 0, 0},
		{6931, 104.2, 53.5, 3880979.65228, 982038.82586},
		{6932, -63.6, -78, -1198179.12673, 594781.28385},
		{2193, 175.9, -38.8, 1851844.81836, 5701421.68341},
		{2193, -176.5, -44, 2441977.48013, 5074225.22613},
	} {
		s, err := FromEPSG(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if s.Code() != c.code {
			t.Errorf("code of %s is %d, want %d", s.Name(), s.Code(), c.code)
		}
		if x, y, ok := s.Project(c.lon, c.lat); !ok || math.Hypot(x-c.x, y-c.y) > 2e-5 {
			t.Errorf("%s: Project(%g, %g) = %.5f, %.5f, %v, want %.5f, %.5f", s.Name(), c.lon, c.lat, x, y, ok, c.x, c.y)
		}
	}
}

func TestOutside(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		code     int
		lon, lat float64
	}{
		{4326, 10, 90.1}, {4326, 361, 0}, {4326, nan, 0}, {4326, 0, nan}, {4326, inf, 0}, {4326, 0, -inf},
		{32632, 9, 91}, {32632, nan, 0}, {32632, 189, 10}, {32632, 120, 0}, {32632, 99, 0}, {32632, 80, 0}, {32632, -170, -0.001},
		{3857, 0, 90}, {3857, 0, -90},
		{3035, -170, -52},
	} {
		s, err := FromEPSG(c.code)
		if err != nil {
			t.Fatal(err)
		}
		if x, y, ok := s.Project(c.lon, c.lat); ok {
			t.Errorf("%s: Project(%g, %g) = %g, %g, want false", s.Name(), c.lon, c.lat, x, y)
		}
	}
}

func TestFromEPSGErrors(t *testing.T) {
	for _, code := range []int{-1, 0, 1, 27700, 32600, 32661, 32700, 32761, 25827, 25839, 26900, 26924, 1 << 40} {
		if s, err := FromEPSG(code); !errors.Is(err, ErrUnsupported) {
			t.Errorf("FromEPSG(%d) = %+v, %v, want %v", code, s, err, ErrUnsupported)
		}
	}
}

// TestLongitudes says what happens to longitudes of more than half a turn.
func TestLongitudes(t *testing.T) {
	s, err := FromEPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	if x, _, ok := s.Project(190, 10); !ok || x != 190 {
		t.Errorf("Project(190, 10) = %g, %v, want 190", x, ok)
	}
}

// A box is an area in degrees.
type box struct{ west, south, east, north float64 }

type point struct{ x, y float64 }

func (b box) random(rng *rand.Rand, n int) []point {
	points := make([]point, n)
	for i := range points {
		points[i] = point{b.west + (b.east-b.west)*rng.Float64(), b.south + (b.north-b.south)*rng.Float64()}
	}
	return points
}

// areas are at least the areas of use of the EPSG dataset. They are wider where the formulas allow it.
func areas() map[int]box {
	all := map[int]box{
		4326: {-180, -90, 180, 90}, 4258: {-35, 24, 45, 85}, 4269: {-180, 15, -40, 87}, 4167: {165, -48, 180, -33}, 4283: {105, -50, 160, -5},
		4617: {-145, 40, -45, 87}, 4674: {-125, -60, -25, 33}, 6318: {-180, 15, -60, 75}, 7844: {105, -50, 160, -5},
		3857: {-180, -85.06, 180, 85.06},
		3035: {-35, 24, 45, 85},
		5070: {-130, 20, -60, 55},
		3338: {-180, 45, -125, 75},
		6350: {-130, 20, -60, 55}, 3005: {-145, 45, -110, 62}, 3577: {105, -50, 160, -5},
		6931: {-180, 0, 180, 90}, 6932: {-180, -90, 180, 0},
		3006: {10, 54, 25, 70}, 3067: {19, 58, 32, 71}, 2193: {165, -48, 180, -33},
	}
	for _, f := range utmFamilies {
		for zone := f.first; zone <= f.last; zone++ {
			middle := float64(6*zone - 183)
			all[f.base+zone] = box{max(-180, middle-9), 0, min(180, middle+9), 84}
			if f.south {
				all[f.base+zone] = box{max(-180, middle-9), -80, min(180, middle+9), 0}
			}
		}
	}
	return all
}
