package tiles

import "testing"

// TestNotes checks that a note stays with its tile while that is in memory, and with no other tile.
func TestNotes(t *testing.T) {
	c := newMemory(1<<20, newMetrics(nil))
	c.put(numberedSum(1), newTile([]byte("one")))
	c.put(numberedSum(2), newTile([]byte("two")))
	noteOf := func(i int) any {
		t.Helper()
		tile, ok := c.get(numberedSum(i))
		if !ok {
			t.Fatalf("tile %d is not in memory", i)
		}
		return tile.Note.Read()
	}
	if got := noteOf(1); got != nil {
		t.Errorf("a new tile has the note %v", got)
	}
	tile, _ := c.get(numberedSum(1))
	tile.Note.Write("of one")
	if got := noteOf(1); got != "of one" {
		t.Errorf("note = %v, want the one that was written", got)
	}
	if got := noteOf(2); got != nil {
		t.Errorf("another tile has the note %v", got)
	}
	c.put(numberedSum(1), newTile([]byte("one, drawn again")))
	if got := noteOf(1); got != nil {
		t.Errorf("another tile of the same key has the note %v", got)
	}
}

func TestBlankTilesHaveNotes(t *testing.T) {
	s, err := New(&fakeRenderer{blank: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range s.blanks {
		if s.blanks[i].Note == nil {
			t.Errorf("the blank tile of scale %d has no note", i+1)
		}
	}
}
