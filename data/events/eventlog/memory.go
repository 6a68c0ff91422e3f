package eventlog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"limnomap/data"
)

// A Memory is a [Log] without a database, for the demo. The zero value is empty.
type Memory struct {
	mu      sync.Mutex
	moments []data.Moment
	blocks  map[int][]byte
	events  []data.Event
}

// maxRemembered bounds the events of a Memory.
const maxRemembered = 100_000

func (m *Memory) last() data.Moment {
	if len(m.moments) == 0 {
		return data.Moment{}
	}
	return m.moments[len(m.moments)-1]
}

// A memoryTx collects what a transaction writes.
type memoryTx struct {
	blocks map[int][]byte
	events []data.Event
}

func (t *memoryTx) Block(index int) ([]byte, error) { return t.blocks[index], nil }

func (t *memoryTx) PutBlock(index int, block []byte) error {
	t.blocks[index] = block
	return nil
}

func (t *memoryTx) PutEvent(e *data.Event) error {
	t.events = append(t.events, *e)
	return nil
}

// NextMoment implements [Log].
func (m *Memory) NextMoment(_ context.Context, fn func(last data.Moment, tx data.MomentTx) (data.Moment, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.last()
	tx := memoryTx{blocks: maps.Clone(m.blocks)}
	if tx.blocks == nil {
		tx.blocks = make(map[int][]byte)
	}
	next, err := fn(last, &tx)
	if err != nil || next.Number == last.Number {
		return err
	}
	m.moments = append(m.moments, next)
	m.blocks = tx.blocks
	m.events = append(m.events, tx.events...)
	m.events = slices.Delete(m.events, 0, max(0, len(m.events)-maxRemembered))
	return nil
}

// LastMoment implements [Log].
func (m *Memory) LastMoment(_ context.Context, fn func(last data.Moment, block func(index int) ([]byte, error)) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fn(m.last(), (&memoryTx{blocks: m.blocks}).Block)
}

// MomentNumber implements [Log].
func (m *Memory) MomentNumber(_ context.Context, snapshot string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, moment := range slices.Backward(m.moments) {
		if moment.Snapshot == snapshot {
			return moment.Number, nil
		}
	}
	return 0, fmt.Errorf("snapshot %.80q: %w", snapshot, data.ErrNoMoment)
}

// Events implements [Log].
func (m *Memory) Events(_ context.Context, q data.EventQuery) (found []data.Event, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if q.Limit < 1 || q.Limit > data.MaxEvents {
		q.Limit = data.MaxEvents
	}
	for i := 0; i < len(m.events) && len(found) < q.Limit; i++ {
		e := &m.events[i]
		if q.Descending {
			e = &m.events[len(m.events)-1-i]
		}
		if e.Seq > q.After && (q.Until == 0 || e.Seq <= q.Until) && (q.Lake == "" || e.LakeID == q.Lake) && (!q.Statements || e.Kind.OfAdvisory()) {
			found = append(found, *e)
		}
	}
	return found, nil
}

// EventState implements [Log].
func (m *Memory) EventState(context.Context) (data.EventState, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.last()
	state := data.EventState{Moment: last.Number, Oldest: last.LastSeq + 1, Newest: last.LastSeq}
	if len(m.events) > 0 {
		state.Oldest = m.events[0].Seq
	}
	return state, nil
}

// DropEvents implements [Log].
func (m *Memory) DropEvents(_ context.Context, before time.Time, most int) (dropped int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for n < len(m.events) && n < most && m.events[n].At.Before(before) {
		n++
	}
	m.events = slices.Delete(m.events, 0, n)
	if n < most {
		last := m.last().Number
		m.moments = slices.DeleteFunc(m.moments, func(moment data.Moment) bool { return moment.At.Before(before) && moment.Number != last })
	}
	return int64(n), nil
}
