package refresh

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
)

// checksumEnd is the end of the name of a checksum file.
const checksumEnd = ".sha256"

// maxChecksumBytes bounds a checksum file: it is for one file, and may name some others.
const maxChecksumBytes = 64 << 10

// errNotSums is returned for a text without checksums.
var errNotSums = errors.New("want lines of 64 hexadecimal digits and a file's name, as sha256sum writes them")

// sumOf returns the SHA-256 of the file of that name from text in a format of sha256sum: "HEX  name", "HEX *name",
// "SHA256 (name) = HEX", or one line with HEX only. A name may be preceded by folders.
func sumOf(text, name string) (sum [sha256.Size]byte, err error) {
	found := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		this, of, err := parseSum(line)
		if err != nil {
			return sum, err
		}
		if of != "" && path.Base(strings.ReplaceAll(of, `\`, "/")) != name {
			continue
		}
		if found && this != sum {
			return sum, fmt.Errorf("it has two checksums of %q: want one", name)
		}
		sum, found = this, true
	}
	if !found {
		return sum, fmt.Errorf("it has no checksum of %q", name)
	}
	return sum, nil
}

// parseSum parses a line. The name is empty if there is none.
func parseSum(line string) (sum [sha256.Size]byte, name string, err error) {
	digits := line
	if rest, ok := strings.CutPrefix(line, "SHA256 ("); ok { // sha256sum --tag, and the BSDs
		end := strings.LastIndex(rest, ") = ")
		if end < 0 {
			return sum, "", errNotSums
		}
		name, digits = rest[:end], rest[end+len(") = "):]
	} else if before, after, ok := strings.Cut(line, " "); ok {
		// A backslash means that the name is escaped; the second space or asterisk is the mode in which the file was read.
		digits, name = strings.TrimPrefix(before, `\`), strings.TrimPrefix(strings.TrimPrefix(after, " "), "*")
	}
	raw, err := hex.DecodeString(strings.TrimSpace(digits))
	if err != nil || len(raw) != len(sum) {
		return sum, "", errNotSums
	}
	return [sha256.Size]byte(raw), name, nil
}
