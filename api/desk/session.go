package desk

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"

	"limnomap/data/apikey"
)

const (
	// idleTime is how long a session lasts without a request, and sessionTime how long it lasts at most: a working day.
	idleTime    = 30 * time.Minute
	sessionTime = 8 * time.Hour
	// maxSessions bounds the memory of sessions: when there are more, the one that was used first ends.
	maxSessions = 1000
)

// A session is what the server knows of a person who has signed in. It is immutable, except for used and language, which sessions guards.
type session struct {
	key      apikey.Hash
	token    string // is in each form of the session
	began    time.Time
	used     time.Time
	language string // empty: as the browser prefers
}

// A sessionID is the hash of a cookie: the memory of the server does not have what opens a session.
type sessionID [sha256.Size]byte

// sessions are those of one server, in memory: they end with the process.
type sessions struct {
	mu   sync.Mutex
	byID map[sessionID]*session
}

func idOf(cookie string) sessionID { return sha256.Sum256([]byte(cookie)) }

// begin returns the cookie of a new session.
func (s *sessions) begin(key apikey.Hash, language string, now time.Time) (cookie string) {
	cookie = rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, other := range s.byID {
		if other.over(now) {
			delete(s.byID, id)
		}
	}
	if len(s.byID) >= maxSessions {
		var oldest sessionID
		var used time.Time
		for id, other := range s.byID {
			if used.IsZero() || other.used.Before(used) {
				oldest, used = id, other.used
			}
		}
		delete(s.byID, oldest)
	}
	s.byID[idOf(cookie)] = &session{key: key, token: rand.Text(), began: now, used: now, language: language}
	return cookie
}

// find returns the session of a cookie, which is used now. A language that is not empty becomes that of the session.
func (s *sessions) find(cookie, language string, now time.Time) (found session, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := idOf(cookie)
	known, ok := s.byID[id]
	if !ok {
		return session{}, false
	}
	if known.over(now) {
		delete(s.byID, id)
		return session{}, false
	}
	known.used = now
	if language != "" {
		known.language = language
	}
	return *known, true
}

func (s *sessions) end(cookie string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, idOf(cookie))
}

// over reports whether the session has ended. A clock that was set back ends it too.
func (s *session) over(now time.Time) bool {
	return now.Sub(s.used) > idleTime || now.Sub(s.began) > sessionTime || now.Before(s.began)
}
