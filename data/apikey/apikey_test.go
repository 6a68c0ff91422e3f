package apikey

import (
	"errors"
	"strings"
	"testing"
	"time"
)

func TestNew(t *testing.T) {
	now := time.Unix(1e9, 0)
	text, k := New(now)
	if !strings.HasPrefix(text, "limnomap_") || len(text) < len("limnomap_")+26 { // 26 characters of base32 are 130 bits
		t.Errorf("New = %q, want a text with the prefix and at least 26 random characters", text)
	}
	if k.Hash != HashOf(text) || k.CreatedAt != now || !k.Valid(now) {
		t.Errorf("New = %+v, want a valid key with the hash of its text", k)
	}
	if other, _ := New(now); other == text {
		t.Errorf("New returned %q twice", text)
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"agency": true, "Lakes 2.0_a@b-c": true, strings.Repeat("a", 64): true,
		"": false, strings.Repeat("a", 65): false, "-a": false, " a": false, "a\nb": false, "ä": false,
	} {
		if got := ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %t, want %t", name, got, want)
		}
	}
}

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
			t.Errorf("ParseScopes(%q) = %v, %v, want the scopes that were written, %v", got.String(), again, err, got)
		}
	}
	for _, text := range []string{"", ",", "Monitor", "monitor,", "monitor metrics", "all", "*"} {
		if got, err := ParseScopes(text); !errors.Is(err, ErrScope) || got != 0 {
			t.Errorf("ParseScopes(%q) = %v, %v, want %v", text, got, err, ErrScope)
		}
	}
	if !(ScopeMonitor | ScopeMetrics).Have(ScopeMetrics) || ScopeMonitor.Have(ScopeMetrics) || Scopes(0).Have(ScopeMonitor) {
		t.Error("Have does not report whether a scope is in the set")
	}
}

func TestKeyValid(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, tt := range []struct {
		name string
		key  Key
		want bool
	}{
		{"no expiry", Key{}, true},
		{"expires later", Key{ExpiresAt: now.Add(1)}, true},
		{"expires now", Key{ExpiresAt: now}, false},
		{"revoked", Key{ExpiresAt: now.Add(1), RevokedAt: now.Add(-1)}, false},
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
