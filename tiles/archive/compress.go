package archive

import (
	"bytes"
	"compress/gzip"
)

// A compressor writes gzip as small as it gets. It keeps its tables, which are larger than what it compresses here.
type compressor struct{ z *gzip.Writer }

// append appends data compressed. The standard library's gzip header has neither time nor name unless told; that of
// klauspost/compress gives the zero time as one of its own.
func (c *compressor) append(dst, data []byte) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	if c.z == nil {
		z, err := gzip.NewWriterLevel(out, gzip.BestCompression)
		if err != nil {
			return nil, err
		}
		c.z = z
	}
	c.z.Reset(out)
	if _, err := c.z.Write(data); err != nil {
		return nil, err
	}
	if err := c.z.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
