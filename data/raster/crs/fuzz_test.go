package crs

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// checkSystem checks what holds for all systems and errors.
func checkSystem(t *testing.T, s *System, err error) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrUnsupported) || s != nil {
			t.Fatalf("%+v, error %v, want an ErrFormat or ErrUnsupported", s, err)
		}
		if len(err.Error()) > 2000 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
		return
	}
	for _, lat := range []float64{-90, -89.999, -30, 0, 1e-9, 47.6, 89, 90} {
		for _, lon := range []float64{-360, -180, -96, 0, 9.4, 179.999, 360} {
			x, y, ok := s.Project(lon, lat)
			if !ok {
				continue
			}
			if !(math.Abs(x)+math.Abs(y) < 1e12) {
				t.Fatalf("%+v: Project(%g, %g) = %g, %g", s, lon, lat, x, y)
			}
		}
	}
}

func FuzzFromWKT(f *testing.F) {
	for _, text := range []string{geogcs, utm32, geoTools, "", "A[", `A["""",1(2)]`, `PROJCRS["x",ID["EPSG",32632]]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := FromWKT(text)
		checkSystem(t, s, err)
	})
}

// FuzzFromGeoKeys takes keys as records of an id, a kind and a number: 1 for a code, 2 for a double, 3 for a text.
func FuzzFromGeoKeys(f *testing.F) {
	record := func(id uint16, kind byte, value uint64) []byte {
		return binary.LittleEndian.AppendUint64(append(binary.LittleEndian.AppendUint16(nil, id), kind), value)
	}
	double := math.Float64bits
	join := func(records ...[]byte) (all []byte) {
		for _, r := range records {
			all = append(all, r...)
		}
		return all
	}
	f.Add(join(record(1024, 1, 2), record(2048, 1, 4326)), "")
	f.Add(join(record(1024, 1, 1), record(3072, 1, 32632)), "")
	f.Add(join(record(1024, 1, 1), record(2048, 1, 4269), record(3072, 1, 32767), record(3075, 1, 11), record(3078, 2, double(29.5)), record(3079, 2, double(45.5)),
		record(3080, 2, double(-96)), record(3081, 2, double(23))), "")
	f.Add(join(record(1024, 1, 1), record(2048, 1, 32767), record(2057, 2, double(6378137)), record(2059, 2, double(298.257223563)), record(3075, 1, 1),
		record(3080, 2, double(9)), record(3081, 2, 0), record(3092, 2, double(0.9996))), "")
	f.Add(join(record(1024, 1, 32767), record(3073, 3, 0)), "ESRI PE String = "+utm32)
	f.Fuzz(func(t *testing.T, records []byte, text string) {
		keys := map[uint16]any{}
		for ; len(records) >= 11; records = records[11:] {
			id, value := binary.LittleEndian.Uint16(records), binary.LittleEndian.Uint64(records[3:])
			switch records[2] {
			case 1:
				keys[id] = uint16(value)
			case 2:
				keys[id] = []float64{math.Float64frombits(value)}
			case 3:
				keys[id] = text
			}
		}
		s, err := FromGeoKeys(keys)
		checkSystem(t, s, err)
	})
}
