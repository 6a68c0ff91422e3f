package archive

import (
	"bytes"
	"compress/gzip"
)

// A compressor compresses with gzip at the best level. It reuses its tables, which are larger than the data here.
type compressor struct{ z *gzip.Writer }

// append appends the compressed data. It uses the standard library, whose gzip header has no time unless it is set;
// klauspost/compress writes a value of its own for the zero time.
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
