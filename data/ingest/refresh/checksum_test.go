package refresh

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
)

func TestSumOf(t *testing.T) {
	const a = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" // of "a"
	const b = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d" // of "b"
	tests := []struct {
		name, text string
		want       string
		err        string
	}{
		{"sha256sum", a + "  obs.csv\n", a, ""},
		{"binary", a + " *obs.csv\n", a, ""},
		{"tag", "SHA256 (obs.csv) = " + a + "\n", a, ""},
		{"only digits", a, a, ""},
		{"capitals, CRLF", strings.ToUpper(a) + "  obs.csv\r\n", a, ""},
		{"in a folder of Windows", a + " *weekly\\obs.csv\n", a, ""},
		{"escaped", `\` + a + "  obs.csv\n", a, ""},
		{"among others", b + "  lakes.csv\n" + a + "  obs.csv\n", a, ""},
		{"twice", a + "  obs.csv\n" + b + "  obs.csv\n", "", `has two checksums of "obs.csv"`},
		{"of another", a + "  lakes.csv\n", "", `has no checksum of "obs.csv"`},
		{"of another kind", "0cc175b9c0f1b6a831c399e269772661  obs.csv\n", "", "want lines of 64 hexadecimal digits"},
		{"half a tag", "SHA256 (obs.csv", "", "want lines of 64 hexadecimal digits"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := sumOf(test.text, "obs.csv")
			if test.err == "" && (err != nil || hex.EncodeToString(got[:]) != test.want) {
				t.Errorf("sumOf = %x, %v; want %s", got, err, test.want)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("sumOf = %x, %v; want an error that contains %q", got, err, test.err)
			}
		})
	}
}

// Any checksum file gives a checksum that is in it, or an error.
func FuzzSumOf(f *testing.F) {
	for _, seed := range []string{"", strings.Repeat("a", 64), strings.Repeat("A0", 32) + "  x", "SHA256 (x) = " + strings.Repeat("0", 64), `\` + strings.Repeat("0", 64) + " *a/x"} {
		f.Add(seed, "x")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		sum, err := sumOf(text, name)
		if err == nil && !strings.Contains(strings.ToLower(text), hex.EncodeToString(sum[:])) {
			t.Errorf("sumOf(%q, %q) = %x, which is not in it", text, name, sum)
		}
		if again, err := sumOf(text+"\n"+hex.EncodeToString(sum[:])+"  "+name, name); err == nil && again != sum {
			t.Errorf("sumOf(%q, %q) = %x, and with that once more %x", text, name, sum, again)
		}
	})
}

func TestDigests(t *testing.T) {
	sum := sha256.Sum256([]byte("a"))
	right := ":" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	sum512 := sha512.Sum512([]byte("a"))
	longer := ":" + base64.StdEncoding.EncodeToString(sum512[:]) + ":"
	tests := []struct {
		name   string
		fields http.Header
		found  int
		bad    bool // invalid
		wrong  bool // of another content
	}{
		{name: "none", fields: http.Header{}},
		{name: "right", fields: http.Header{"Repr-Digest": {"sha-256=" + right}}, found: 1},
		{name: "both algorithms", fields: http.Header{"Repr-Digest": {"sha-512=" + longer + ", sha-256=" + right}}, found: 2},
		{name: "with a parameter, among others", fields: http.Header{"Repr-Digest": {"md5=:AAAA:, sha-256=" + right + ";a=1"}}, found: 1},
		{name: "wrong", fields: http.Header{"Repr-Digest": {"sha-256=:" + strings.Repeat("A", 43) + "=:"}}, found: 1, wrong: true},
		{name: "unknown", fields: http.Header{"Repr-Digest": {"md5=:AAAA:"}}},
		{name: "too short", fields: http.Header{"Repr-Digest": {"sha-256=:AAAA:"}}, bad: true},
		{name: "no colons", fields: http.Header{"Repr-Digest": {"sha-256=" + strings.Trim(right, ":")}}, bad: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			digests, err := digestsOf(test.fields)
			if (err != nil) != test.bad || len(digests) != test.found {
				t.Errorf("digestsOf = %d, %v; want %d, an error: %v", len(digests), err, test.found, test.bad)
			}
			for _, d := range digests {
				d.sum.Write([]byte("a"))
				if err := d.check(); (err != nil) != test.wrong {
					t.Errorf("check = %v, want an error: %v", err, test.wrong)
				}
			}
		})
	}
}

func FuzzDigests(f *testing.F) {
	for _, seed := range []string{"", "sha-256=:AAAA:", "sha-512=:" + strings.Repeat("A", 86) + "==:", "sha-256=:" + strings.Repeat("A", 43) + "=:;x, sha-256"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		digests, err := digestsOf(http.Header{"Repr-Digest": {field}})
		if err != nil && len(digests) > 0 {
			t.Errorf("digestsOf(%q) gives %d digests and %v", field, len(digests), err)
		}
		for _, d := range digests {
			if len(d.want) != d.sum.Size() {
				t.Errorf("digestsOf(%q) gives a %s of %d bytes", field, d.algorithm, len(d.want))
			}
		}
	})
}
