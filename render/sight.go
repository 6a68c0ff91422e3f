package render

import (
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"limnomap/data"
)

const (
	// maxSights is how many sights a plan remembers: those of a few screens of tiles.
	maxSights = 128
	// maxSeen is how many places a sight that is worth remembering has at most, 16 bytes each: 8 MB in all.
	maxSeen = 4096
	// maxStamps is how many stamps it has at most, 80 bytes each: 20 MB in all. More are soon made beside what it takes to
	// add them up.
	maxStamps = 2048
)

// A sight is the places in reach of a window if all had a value, which are the same in all weeks: an animation asks for
// the same tiles again and again. Once made it stays as it is.
type sight struct {
	seen   []seen
	ties   []span // of them, those of places in one point, whose order hangs on their values
	valued bool   // whether places without a value leave no trace
	vague  bool   // whether it does not say what is in reach: that is to be searched for

	stamping sync.Once // makes the stamps, see stamped
	stamps   []splat   // of the value field, without a value; nil if they are not worth their room
}

// A seen is a hit of a place of the plan.
type seen struct {
	x, y   int32
	at     int32
	stamps int32 // how many of the sight's are its own
}

// A sightKey is what a sight depends on besides the plan.
type sightKey struct {
	window  window
	painter painter
}

// A look is the values of a sight's places in one layer.
type look struct {
	sight  *sight
	values []data.Chlorophyll
}

func newSights() *lru.Cache[sightKey, *sight] {
	// The size is a positive constant, the only thing that New checks.
	sights, err := lru.New[sightKey, *sight](maxSights)
	if err != nil {
		panic(err)
	}
	return sights
}

// sight returns the sight of w. Several may look for it at once, and find the same.
func (p *plan) sight(w window, by painter) *sight {
	key := sightKey{w, by}
	if s, ok := p.sights.Get(key); ok {
		return s
	}
	s := new(sight)
	q := newQuery(&p.lakes, w, by)
	q.viewer = &viewer{sight: s}
	q.search()
	s.tie(p)
	if s.vague = s.vague || len(s.seen) > maxSeen; s.vague {
		s.seen, s.ties = nil, nil
	}
	s.seen = slices.Clip(s.seen)
	p.sights.Add(key, s)
	return s
}

// tie finds the ties of s.
func (s *sight) tie(p *plan) {
	code := func(i int) uint64 { return p.lakes.codes[s.seen[i].at] }
	repeated := false
	for from := 0; from < len(s.seen); {
		to := from + 1
		for to < len(s.seen) && code(to) == code(from) {
			repeated = repeated || s.seen[to].at == s.seen[to-1].at
			to++
		}
		if to-from > 1 {
			s.ties = append(s.ties, span{from, to})
		}
		from = to
	}
	// Where the world is so small that a place is seen twice, its copies stay side by side.
	s.vague = repeated
}

// A viewer makes a sight: it sees each place as if it had a value, whatever the plan's has.
type viewer struct {
	sight         *sight
	with, without place // the place at hand with a value and without
}

// reach returns how far a place reaches if it has a value.
func (v *viewer) reach(p *place, by painter, w window) int64 {
	v.with, v.without = *p, *p
	v.with.chlorophyll, v.without.chlorophyll = 0, data.NoChlorophyll
	v.sight.valued = by.reach(&v.without, w) == 0
	return by.reach(&v.with, w)
}

// look makes s the scene of what is seen on a layer.
func (s *scene) look(at *sight, on *sheets) {
	// A fingerprint's look is followed by that of the picture, nearly always at once.
	values := on.lookedAt(at)
	if cap(s.places) < len(at.seen) {
		s.places = make([]place, len(at.seen))
	}
	s.sight, s.plan = at, on.plan
	s.places, s.hits = s.places[:len(at.seen)], s.hits[:0]
	for i := range at.seen {
		// Where it is, and no copy of the whole: its stamps may be counted at this moment.
		s.places[i] = on.plan.lakes.places[at.seen[i].at]
		s.places[i].set(values[i], on.values)
	}
	for _, t := range at.ties {
		slices.SortFunc(s.places[t.from:t.to], func(a, b place) int { return compare(&a, &b) })
	}
	for i := range at.seen {
		if p, seen := &s.places[i], &at.seen[i]; !at.valued || p.chlorophyll.Valid() {
			s.hits = append(s.hits, hit{seen.x, seen.y, p})
		}
	}
}

// stamped returns the stamps of all that s sees in w, whose kernels are of ks.
func (s *sight) stamped(p *plan, w window, ks *kernels) []splat {
	s.stamping.Do(func() {
		for i := range s.seen {
			seen, n := &s.seen[i], len(s.stamps)
			at := &p.lakes.places[seen.at]
			s.stamps = appendSplats(s.stamps, hit{seen.x, seen.y, at}, w, ks.of(at.ground.at(w.zoom)))
			seen.stamps = int32(len(s.stamps) - n)
			if len(s.stamps) > maxStamps {
				s.stamps = nil
				return
			}
		}
		s.stamps = slices.Clip(s.stamps)
	})
	return s.stamps
}

// appendStamps appends the splats of what s sees, one by one what [appendSplats] makes of its hits, and reports whether it
// could.
func (s *scene) appendStamps(splats []splat, w window, ks *kernels) ([]splat, bool) {
	if s.sight == nil {
		return splats, false
	}
	stamps := s.sight.stamped(s.plan, w, ks)
	if stamps == nil {
		return splats, false
	}
	for i := range s.sight.seen {
		n := int(s.sight.seen[i].stamps)
		if p := &s.places[i]; p.chlorophyll.Valid() {
			for k := range n {
				splats = append(splats, stamps[k])
				splats[len(splats)-1].log = p.log
			}
		}
		stamps = stamps[n:]
	}
	return splats, true
}

// lookedAt returns the values of what is seen: every other time from memory.
func (s *sheets) lookedAt(at *sight) []data.Chlorophyll {
	if last := s.last.Swap(nil); last != nil && last.sight == at {
		return last.values
	}
	values := make([]data.Chlorophyll, len(at.seen))
	for i := range values {
		values[i] = s.known.Of(int(s.plan.of[at.seen[i].at]))
	}
	s.last.Store(&look{at, values})
	return values
}
