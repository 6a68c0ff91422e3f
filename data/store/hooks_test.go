package store

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
)

func createHook(t *testing.T, s *Store, address string, filter eventfeed.Filter) hook.Hook {
	t.Helper()
	h := hook.New(address, filter, noon)
	if err := s.CreateHook(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	return h
}

func wantHooks(t *testing.T, s *Store, want ...hook.Hook) {
	t.Helper()
	if got, err := s.Hooks(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Hooks =\n%+v, %v, want\n%+v", got, err, want)
	}
}

// Webhooks are read as they were written, and changed all or nothing.
func testHooks(t *testing.T, open opener) {
	s := open(t, func() time.Time { return noon })
	putMoment(t, s, noon, testEvent(1, "a", data.ClassUp), testEvent(2, "a", data.ClassDown))
	if hooks, err := s.Hooks(t.Context()); err != nil || len(hooks) > 0 {
		t.Fatalf("Hooks = %v, %v", hooks, err)
	}
	box := data.Box{South: 1.5, West: 170, North: 3, East: -170}
	kinds, err := eventfeed.ParseKinds("class_up,advisory_issued")
	if err != nil {
		t.Fatal(err)
	}
	one := createHook(t, s, "https://example.org/ä?b=\"c\"", eventfeed.Filter{Region: `Bay"ern`, Box: &box, Kinds: kinds, MinLevel: 2})
	other := hook.New("https://example.org/", eventfeed.Filter{Lakes: []data.LakeID{"a", "b"}}, noon.Add(time.Minute))
	if err := s.CreateHook(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	one.Skip(2) // what happened before is no news for them
	other.Skip(2)
	wantHooks(t, s, one, other)

	wrong := errors.New("no")
	if err := s.UpdateHook(t.Context(), one.ID, func(h *hook.Hook) error { h.State = hook.Dead; return wrong }); !errors.Is(err, wrong) {
		t.Errorf("UpdateHook = %v, want %v", err, wrong)
	}
	wantHooks(t, s, one, other)
	err = s.UpdateHook(t.Context(), one.ID, func(h *hook.Hook) error {
		h.State = hook.Paused
		h.Rotate(noon.Add(time.Hour))
		one = *h
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	wantHooks(t, s, one, other)
	for name, err := range map[string]error{
		"UpdateHook": s.UpdateHook(t.Context(), "none\x00", func(*hook.Hook) error { return nil }),
		"DeleteHook": s.DeleteHook(t.Context(), "none"),
		"HookDeliveries": func() error {
			_, err := s.HookDeliveries(t.Context(), "none", 1)
			return err
		}(),
	} {
		if !errors.Is(err, hook.ErrNoHook) {
			t.Errorf("%s of no webhook = %v, want %v", name, err, hook.ErrNoHook)
		}
	}
	if err := s.DeleteHook(t.Context(), one.ID); err != nil {
		t.Fatal(err)
	}
	wantHooks(t, s, other)
	for i := 1; i < hook.MaxHooks; i++ {
		createHook(t, s, "https://example.org/", eventfeed.Filter{})
	}
	if err := s.CreateHook(t.Context(), hook.New("https://example.org/", eventfeed.Filter{}, noon)); err == nil || !strings.Contains(err.Error(), fmt.Sprint(hook.MaxHooks)) {
		t.Errorf("one webhook more than %d: %v", hook.MaxHooks, err)
	}
}

// A webhook that another program has broken is named, and the others are read.
func testBrokenHooks(t *testing.T, open opener) {
	s := open(t, func() time.Time { return noon })
	var hooks []hook.Hook
	for range 5 {
		hooks = append(hooks, createHook(t, s, "https://example.org/", eventfeed.Filter{}))
	}
	err := s.db.update(t.Context(), "break webhooks", func(q querier) error {
		w := writer{ctx: t.Context(), q: q}
		w.exec("UPDATE limnomap.hooks SET state = 'broken' WHERE id = $1", hooks[0].ID)
		w.exec("UPDATE limnomap.hooks SET filter = '{' WHERE id = $1", hooks[2].ID)
		w.exec("UPDATE limnomap.hooks SET url = $2 WHERE id = $1", hooks[3].ID, strings.Repeat("x", hook.MaxURLBytes+1))
		return w.err
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Hooks(t.Context())
	var ids []string
	for _, h := range got {
		ids = append(ids, h.ID)
	}
	want := []string{hooks[1].ID, hooks[4].ID}
	slices.Sort(ids)
	slices.Sort(want)
	if !errors.Is(err, hook.ErrBroken) || !slices.Equal(ids, want) {
		t.Errorf("Hooks = %v, %v, want %v", ids, err, want)
	}
	for _, i := range []int{0, 2, 3} {
		if err == nil || !strings.Contains(err.Error(), hooks[i].ID) {
			t.Errorf("the error does not name %s: %v", hooks[i].ID, err)
		}
		if err := s.UpdateHook(t.Context(), hooks[i].ID, func(*hook.Hook) error { return nil }); !errors.Is(err, hook.ErrBroken) {
			t.Errorf("UpdateHook = %v", err)
		}
		if err := s.DeleteHook(t.Context(), hooks[i].ID); err != nil {
			t.Error(err)
		}
	}
	if got, err := s.Hooks(t.Context()); err != nil || len(got) != 2 {
		t.Errorf("%d webhooks are left, %v", len(got), err)
	}
}

// One process at a time sends to a webhook, and another one takes over when its claim has ended.
func testHookClaims(t *testing.T, open opener) {
	now := noon
	s := open(t, func() time.Time { return now })
	h := createHook(t, s, "https://example.org/", eventfeed.Filter{})
	claim := func(holder string, want bool) {
		t.Helper()
		got, claimed, err := s.LeaseHook(t.Context(), h.ID, holder, now, now.Add(time.Minute))
		if err != nil || claimed != want || claimed && got.ID != h.ID {
			t.Errorf("LeaseHook for %s = %v, %v, %v, want %v", holder, got.ID, claimed, err, want)
		}
	}
	put := func(holder string, p, statements hook.Progress, d *hook.Delivery, want error) {
		t.Helper()
		of := h
		of.Progress, of.Statements = p, statements
		if err := s.PutDelivery(t.Context(), &of, holder, now.Add(time.Minute), d); !errors.Is(err, want) {
			t.Errorf("PutDelivery by %s = %v, want %v", holder, err, want)
		}
	}
	claim("one", true)
	claim("two", false)
	now = now.Add(50 * time.Second)
	put("one", hook.Progress{After: 1}, hook.Progress{}, nil, nil) // extends the claim
	now = now.Add(50 * time.Second)
	claim("two", false)
	put("two", hook.Progress{After: 9}, hook.Progress{}, nil, data.ErrLeaseLost)
	now = now.Add(11 * time.Second)
	claim("two", true)
	put("one", hook.Progress{After: 9}, hook.Progress{}, &hook.Delivery{At: now}, data.ErrLeaseLost)
	failed := hook.Progress{After: 1, Failures: 2, FailingSince: now, NextAt: now.Add(time.Hour), LastError: "no\x00 \xff answer"}
	told := hook.Progress{After: 3, Failures: 1, FailingSince: now.Add(-time.Hour), NextAt: now.Add(2 * time.Hour), LastError: "none", DeliveredAt: now.Add(-2 * time.Hour)}
	put("two", failed, told, &hook.Delivery{At: now, Seq: 2, Event: "e", Attempt: 2, Status: 500, Error: "no", Duration: 1500 * time.Millisecond}, nil)
	if err := s.ReleaseHook(t.Context(), h.ID, "one"); err != nil {
		t.Fatal(err)
	}
	claim("three", false) // two has it
	if err := s.ReleaseHook(t.Context(), h.ID, "two"); err != nil {
		t.Fatal(err)
	}
	h.Progress, h.Statements = failed, told
	h.LastError = "no\uFFFD \uFFFD answer"
	wantHooks(t, s, h)
	now = now.Add(time.Hour)
	claim("three", true)
	put("three", hook.Progress{After: 2, DeliveredAt: now}, told, &hook.Delivery{At: now, Seq: 2, Event: "e", Attempt: 3, Status: 204}, nil)
	put("three", hook.Progress{After: 7, DeliveredAt: now}, told, nil, nil)
	h.Progress = hook.Progress{After: 7, DeliveredAt: now}
	wantHooks(t, s, h)
	got, err := s.HookDeliveries(t.Context(), h.ID, 10)
	if err != nil || len(got) != 2 || got[0] != (hook.Delivery{At: now, Seq: 2, Event: "e", Attempt: 3, Status: 204}) ||
		got[1] != (hook.Delivery{At: now.Add(-time.Hour), Seq: 2, Event: "e", Attempt: 2, Status: 500, Error: "no", Duration: 1500 * time.Millisecond}) {
		t.Errorf("HookDeliveries = %+v, %v", got, err)
	}
	for i := range int64(hook.MaxDeliveries + 20) {
		put("three", hook.Progress{After: 10 + i}, told, &hook.Delivery{At: now, Seq: 10 + i}, nil)
	}
	if got, err := s.HookDeliveries(t.Context(), h.ID, 1_000_000); err != nil || len(got) != hook.MaxDeliveries || got[0].Seq != 10+hook.MaxDeliveries+19 {
		t.Errorf("%d deliveries are kept, %v, want %d", len(got), err, hook.MaxDeliveries)
	}
	// Whoever changes a webhook takes it from the process that sends.
	if err := s.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error { h.State = hook.Paused; return nil }); err != nil {
		t.Fatal(err)
	}
	put("three", hook.Progress{After: 1000}, told, nil, data.ErrLeaseLost)
	claim("four", false) // paused
	// A claim from a clock that is wrong does not hold for ever.
	if err := s.UpdateHook(t.Context(), h.ID, func(h *hook.Hook) error { h.Resume(); return nil }); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(1, 0, 0)
	claim("future", true)
	now = now.AddDate(-1, 0, 0)
	claim("present", true)
	// Nor does a wait.
	for _, tt := range []struct {
		wait time.Duration
		due  bool
	}{{hook.LongestWait, false}, {hook.LongestWait * 3 / 2, false}, {24 * time.Hour, true}, {365 * 24 * time.Hour, true}} {
		if p := (hook.Progress{NextAt: now.Add(tt.wait)}); p.Due(now) != tt.due {
			t.Errorf("an attempt in %v is due: %v, want %v", tt.wait, !tt.due, tt.due)
		}
	}
}
