package config

import (
	"fmt"
	"io"
	"os"
)

// ReadFile returns the content of a regular file of at most maxBytes. It refuses a pipe, which may never end and can be
// read only once.
func ReadFile(name string, maxBytes int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(text)) > maxBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, maxBytes)
	}
	return text, nil
}
