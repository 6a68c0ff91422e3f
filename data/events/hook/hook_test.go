package hook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
)

var noon = time.Date(2026, time.July, 6, 12, 0, 0, 0, time.UTC)

// The example of the specification of Standard Webhooks, "Signature scheme", and a rotation.
func TestSign(t *testing.T) {
	t.Parallel()
	h := hook.Hook{Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	at := time.Unix(1614265330, 0)
	got, err := h.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", at, []byte(`{"test": 2432232314}`))
	want := hook.Header{ID: "msg_p5jXN8AQM9LWM0D4loKWxJek", Timestamp: "1614265330", Signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
	if err != nil || got != want {
		t.Errorf("Sign = %+v, %v, want %+v", got, err, want)
	}
	h.Rotate(at.Add(time.Hour))
	for _, tt := range []struct {
		at   time.Time
		want int
	}{{at, 2}, {at.Add(time.Hour - time.Second), 2}, {at.Add(time.Hour), 1}} {
		got, err := h.Sign("msg", tt.at, []byte("{}"))
		signatures := strings.Fields(got.Signature)
		if err != nil || len(signatures) != tt.want {
			t.Fatalf("at %v: %+v, %v, want %d signatures", tt.at, got, err, tt.want)
		}
		for i, secret := range []hook.Secret{h.Secret, h.Former}[:tt.want] {
			key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), "whsec_"))
			if err != nil || len(key) < 24 {
				t.Fatalf("secret %s: %v", secret, err)
			}
			mac := hmac.New(sha256.New, key)
			mac.Write([]byte("msg." + got.Timestamp + ".{}"))
			if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); signatures[i] != want {
				t.Errorf("signature %d is %s, want %s", i, signatures[i], want)
			}
		}
	}
	for _, damaged := range []hook.Secret{"", "whsec_", "whsec_AAAA", "whsec_%%%", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"} {
		if _, err := (&hook.Hook{Secret: damaged}).Sign("msg", at, nil); err == nil || strings.Contains(err.Error(), string(damaged)+"x") {
			t.Errorf("signed with the secret %q: %v", damaged, err)
		}
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.org/a?b=c":      "",
		"http://example.org/":            "want https",
		"ftp://example.org/":             "want one such as",
		"example.org":                    "want one such as",
		"https:///path":                  "want one such as",
		"https://:443/":                  "want one such as",
		"https://user:pass@example.org/": "has a user or a password",
		"https://example.org/#part":      "fragment",
		"https://example.org/\x7f":       "cannot be read",
		"":                               "want one such as",
		"https://example.org/" + strings.Repeat("x", 2000): "at most 2000",
		"http://example.org/SECRET":                        "want https",
		"https://example.org/SECRET#part":                  "fragment",
		"ftp://example.org/SECRET":                         "want one such as",
		"https://example.org/SECRET\x7f":                   "cannot be read",
	} {
		err := hook.CheckURL(address, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) || err != nil && (strings.Contains(err.Error(), "pass@") || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("CheckURL(%.60q) = %v, want %q", address, err, want)
		}
	}
	if err := hook.CheckURL("http://example.org/", true); err != nil {
		t.Errorf("plain HTTP that is allowed: %v", err)
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	one, other := hook.New("https://example.org/", eventfeed.Filter{}, noon), hook.New("https://example.org/", eventfeed.Filter{}, noon)
	if one.ID == other.ID || one.Secret == other.Secret || len(one.ID) != 10 || one.State != hook.Active {
		t.Errorf("two new webhooks are %+v and %+v", one, other)
	}
	if body := string(hook.TestBody(&one, noon)); body != `{"type":"test","timestamp":"2026-07-06T12:00:00Z","data":{"hook":"`+one.ID+`"}}` {
		t.Errorf("the body of a test is %s", body)
	}
}
