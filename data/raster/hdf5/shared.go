package hdf5

// resolve returns the body of a message, which may be shared with other objects.
func (f *File) resolve(m message) ([]byte, error) {
	if m.flags&sharedFlag == 0 {
		return m.body, nil
	}
	return f.sharedBody(m.kind, f.src.decode(m.body, "shared message"))
}

// sharedBody decodes where a shared message is and returns its body: a message of the header of another object, such as a named type.
// Files with messages in a heap are refused by [Open].
func (f *File) sharedBody(kind uint8, c *cursor) ([]byte, error) {
	version := c.uint8()
	c.skip(1)
	switch {
	case c.err != nil:
		return nil, c.err
	case version == 1:
		c.skip(6)
		c.length()
	case version != 2 && version != 3:
		return nil, unsupported("shared message of version %d, want 1 to 3", version)
	}
	address := c.offset()
	if c.err != nil {
		return nil, c.err
	}
	messages, err := f.header(address)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if m.kind == kind && m.flags&sharedFlag == 0 {
			return m.body, nil
		}
	}
	return nil, damaged("no message of type %d in the object header at address %d", kind, address)
}
