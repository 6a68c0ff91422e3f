package sign

import (
	"strings"
	"testing"
)

// Any address of a lake's page has a QR code.
func TestCodes(t *testing.T) {
	for _, address := range []string{
		"https://a.de/lakes/1", "HTTPS://A.DE/1", "http://10.0.0.1:8080/lakes/de_be_mueggelsee", "https://" + strings.Repeat("a-long-name.", 15) + "example.org/lakes/words",
		"https://example.org/" + strings.Repeat("path/", 400),
	} {
		c, err := newCode(address)
		if err != nil || c.Side < 21+2*quietZone || !strings.HasPrefix(c.Path, "M4 4h7v1h-7z") {
			t.Errorf("%s: %v, %v", address, c, err)
		}
	}
}
