package archive

import (
	"bufio"
	"encoding/json"
	"io"
	"os"

	"github.com/paulmach/orb/maptile"

	"limnomap/tiles/hilbert"
)

// writeBuffer is the size of writes, into which small tiles are collected.
const writeBuffer = 1 << 20

// A pmtiles first writes the tiles to a separate file, since header and directories, which come before them, are known only at
// the end.
type pmtiles struct {
	path     string
	meta     *Metadata
	out      *os.File // renamed to path at the end; created first, to fail early
	data     *os.File
	buffer   *bufio.Writer     // to data
	length   uint64            // of data
	contents map[digest]uint64 // the offset in data of each content
	index    directory
}

func newPMTiles(path string, meta *Metadata) (*pmtiles, error) {
	p := &pmtiles{path: path, meta: meta, contents: map[digest]uint64{}}
	var err error
	if p.out, err = createTemp(path); err != nil {
		return nil, err
	}
	if p.data, err = createTemp(path); err != nil {
		p.discard()
		return nil, err
	}
	p.buffer = bufio.NewWriterSize(p.data, writeBuffer)
	return p, nil
}

func (p *pmtiles) add(id uint64, _ maptile.Tile, png []byte) error {
	content := digestOf(png)
	offset, known := p.contents[content]
	if !known {
		offset = p.length
		if _, err := p.buffer.Write(png); err != nil {
			return err
		}
		p.contents[content] = offset
		p.length += uint64(len(png))
	}
	p.index.add(id, offset, uint32(len(png)))
	return nil
}

func (p *pmtiles) finish() error {
	if len(p.index.entries) == 0 {
		if err := p.addBlank(); err != nil {
			return err
		}
	}
	if err := p.writeIndex(); err != nil {
		return err
	}
	if err := p.buffer.Flush(); err != nil {
		return err
	}
	if _, err := p.data.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(p.out, p.data); err != nil {
		return err
	}
	return publish(p.out, p.path)
}

// writeIndex writes all sections before the tiles.
func (p *pmtiles) writeIndex() error {
	root, leaves, err := p.index.encode()
	if err != nil {
		return err
	}
	metadata, err := p.metadata()
	if err != nil {
		return err
	}
	head := header{
		root: uint64(len(root)), metadata: uint64(len(metadata)), leaves: uint64(len(leaves)), data: p.length,
		addressed: p.index.addressed, entries: uint64(len(p.index.entries)), contents: uint64(len(p.contents)),
	}
	for _, section := range [][]byte{head.encode(p.meta), root, metadata, leaves} {
		if _, err := p.out.Write(section); err != nil {
			return err
		}
	}
	return nil
}

// addBlank adds a transparent tile to an archive without tiles, since the format allows no empty directories.
func (p *pmtiles) addBlank() error {
	center := maptile.At(p.meta.Center, p.meta.MinZoom)
	last := uint32(1)<<center.Z - 1 // At is one column too far east at longitude 180
	t := maptile.New(min(center.X, last), min(center.Y, last), center.Z)
	png, err := blank()
	if err != nil {
		return err
	}
	return p.add(hilbert.ID(t), t, png)
}

func (p *pmtiles) metadata() ([]byte, error) {
	texts := map[string]string{} // json.Marshal sorts the keys
	for _, t := range p.meta.texts() {
		texts[t.name] = t.value
	}
	plain, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	return p.index.z.append(nil, plain)
}

func (p *pmtiles) discard() {
	discardFile(p.data)
	discardFile(p.out)
}
