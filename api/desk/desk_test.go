package desk

import (
	"testing"
	"time"

	"limnomap/api/words/wordstest"
)

func TestNoWordIsMissing(t *testing.T) { wordstest.NoneMissing[ownWords](t, "../../web", "desk") }

// When there are too many sessions, the one that was used first ends.
func TestSessionsAreBounded(t *testing.T) {
	s := sessions{byID: make(map[sessionID]*session)}
	now := time.Unix(1_800_000_000, 0)
	first := s.begin([32]byte{}, "", now)
	second := s.begin([32]byte{}, "", now.Add(1))
	for range maxSessions - 1 {
		s.begin([32]byte{}, "", now.Add(2))
	}
	if _, ok := s.find(first, "", now); ok {
		t.Error("the oldest session is kept")
	}
	if _, ok := s.find(second, "", now.Add(3)); !ok || len(s.byID) != maxSessions {
		t.Errorf("there are %d sessions, want %d, the second one among them", len(s.byID), maxSessions)
	}
}
