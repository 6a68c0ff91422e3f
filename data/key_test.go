package data

import (
	"errors"
	"testing"
	"time"
)

func TestScopes(t *testing.T) {
	for text, want := range map[string]Scopes{
		"monitor": ScopeMonitor, "metrics": ScopeMetrics, "monitor,metrics": ScopeMonitor | ScopeMetrics,
		"metrics,monitor,metrics": ScopeMonitor | ScopeMetrics,
	} {
		got, err := ParseScopes(text)
		if err != nil || got != want {
			t.Errorf("ParseScopes(%q) = %v, %v, want %v", text, got, err, want)
		}
		if again, err := ParseScopes(got.String()); err != nil || again != got {
			t.Errorf("ParseScopes(%q) = %v, %v, want what was written, %v", got.String(), again, err, got)
		}
	}
	for _, text := range []string{"", ",", "Monitor", "monitor,", "monitor metrics", "all", "*"} {
		if got, err := ParseScopes(text); !errors.Is(err, ErrScope) || got != 0 {
			t.Errorf("ParseScopes(%q) = %v, %v, want %v", text, got, err, ErrScope)
		}
	}
	if !(ScopeMonitor | ScopeMetrics).Have(ScopeMetrics) || ScopeMonitor.Have(ScopeMetrics) || Scopes(0).Have(ScopeMonitor) {
		t.Error("a scope is had by those who have it, and nobody else")
	}
}

func TestKeyValid(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, tt := range []struct {
		name string
		key  APIKey
		want bool
	}{
		{"for ever", APIKey{}, true},
		{"still", APIKey{ExpiresAt: now.Add(1)}, true},
		{"expired now", APIKey{ExpiresAt: now}, false},
		{"revoked", APIKey{ExpiresAt: now.Add(1), RevokedAt: now.Add(-1)}, false},
	} {
		if got := tt.key.Valid(now); got != tt.want {
			t.Errorf("%s: Valid = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzParseScopes(f *testing.F) {
	for _, seed := range []string{"", "monitor", "metrics,monitor", ",", "monitor,,metrics", "MONITOR"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseScopes(text)
		if (err == nil) == (s == 0) {
			t.Fatalf("ParseScopes(%q) = %v, %v", text, s, err)
		}
		if err == nil {
			if again, err := ParseScopes(s.String()); err != nil || again != s {
				t.Fatalf("ParseScopes(%q) = %v, written %q, read %v, %v", text, s, s.String(), again, err)
			}
		}
	})
}
