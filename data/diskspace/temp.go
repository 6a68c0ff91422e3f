package diskspace

import (
	"errors"
	"os"
)

// A Temp is a temporary file without a name, which no one else can open: it disappears when it is closed or the process ends.
// Where an open file cannot be removed, it has a name until it is closed.
type Temp struct {
	*os.File
	named bool
}

// CreateTemp makes a file in the folder of temporary files. The pattern is that of [os.CreateTemp].
func CreateTemp(pattern string) (*Temp, error) {
	f, err := os.CreateTemp("", pattern)
	if err != nil {
		return nil, err
	}
	return &Temp{f, os.Remove(f.Name()) != nil}, nil
}

// Close closes the file, which removes it.
func (t *Temp) Close() error {
	err := t.File.Close()
	if t.named {
		t.named = false
		err = errors.Join(err, os.Remove(t.Name()))
	}
	return err
}
