package data_test

import (
	"context"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// A lazy view has the same values as the view.
func TestLazyViewEqualsView(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, opts := drawSource(t), drawOptions(t)
		opts.Weeks = rapid.IntRange(1, 30).Draw(t, "weeks")
		s := mustLoad(t, src, opts)
		for _, w := range weeksAround(s) {
			v, err := s.View(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := s.LazyView(context.Background(), w)
			if err != nil {
				t.Fatal(err)
			}
			if shown.Week != v.Week || shown.AsOf != v.AsOf || shown.WithData != v.WithData || len(shown.Lakes) != len(v.Lakes) {
				t.Fatalf("week %s: shown as of %s with %d of %d, want as of %s with %d of %d",
					w, shown.AsOf, shown.WithData, len(shown.Lakes), v.AsOf, v.WithData, len(v.Lakes))
			}
			values := shown.Values()
			for i := range v.States {
				if got, want := values.Of(i), v.States[i].Chlorophyll; got != want {
					t.Fatalf("week %s: lake %d is shown with %s, want %s", w, i, got, want)
				}
			}
			if again, err := s.LazyView(context.Background(), w); err != nil || again != shown {
				t.Fatalf("week %s asked for twice is not the same (%v)", w, err)
			}
		}
	})
}

func TestLazyViewOfEndedContext(t *testing.T) {
	s := load(t, newYearly(t, 20), nil)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if v, err := s.LazyView(ctx, s.Weeks[3].Week); !errors.Is(err, context.Canceled) || v != nil {
		t.Errorf("LazyView = %v, %v, want %v", v, err, context.Canceled)
	}
	if v, err := s.LazyView(ctx, s.Current.Week); err != nil || v != s.Current {
		t.Errorf("LazyView of the current week = %v, %v, want the current view", v, err)
	}
}
