package hdf5

import (
	"fmt"
)

// An object is what groups and datasets have in common. It is small: what its header says is read when it is asked for.
type object struct {
	file    *File
	address uint64
	path    string
}

// Path returns the path of the object from the root group, which is /.
func (o *object) Path() string { return o.path }

// Address returns the address of the object in the file: what object references to it are. An object has one address, and may have
// several paths.
func (o *object) Address() uint64 { return o.address }

// wrap puts the path before an error.
func (o *object) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", o.path, err)
}
