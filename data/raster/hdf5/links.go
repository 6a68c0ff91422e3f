package hdf5

import (
	"cmp"
	"fmt"
	"slices"
)

// A link gives an object a name in a group.
type link struct {
	name    string
	order   uint64 // of creation
	kind    linkKind
	address uint64 // of the object, for hard links
	target  string // path of the object, for soft links
}

// A linkKind says how a link names its object.
type linkKind uint8

const (
	hardLink     linkKind = 0
	softLink     linkKind = 1
	externalLink linkKind = 64 // to an object of another file
)

const (
	maxLinks     = 1 << 17 // in a group
	maxNameBytes = 8 << 20
	maxNodes     = 1 << 18 // of the B-tree of a group
)

// A linkList collects the links of a group. Links that overlap in the file are found by their number and by the bytes of their names,
// which are not more than the file has.
type linkList struct {
	src       *source
	links     []link
	bytes     int64
	maxLinks  int
	maxBytes  int64
	unordered bool // the order of creation is not known
}

// A linkSet is the links of a group, in the order of their creation if the file has it, else by name.
type linkSet struct {
	links  []link
	byName []int32 // numbers of links ordered by name
}

// find returns the link of a name.
func (s *linkSet) find(name string) (link, bool) {
	i, ok := slices.BinarySearchFunc(s.byName, name, func(k int32, name string) int { return cmp.Compare(s.links[k].name, name) })
	if !ok {
		return link{}, false
	}
	return s.links[s.byName[i]], true
}

// readLinks returns the links of the group at an address.
func (f *File) readLinks(address uint64) (*linkSet, error) {
	return f.links.get(address, func() (*linkSet, int, error) {
		h, err := f.header(address)
		if err != nil {
			return nil, 0, err
		}
		l := &linkList{src: f.src, maxLinks: int(min(maxLinks, f.src.size/8)), maxBytes: min(maxNameBytes, f.src.size)}
		if err := l.read(f, h); err != nil {
			return nil, 0, err
		}
		slices.SortStableFunc(l.links, func(a, b link) int {
			if l.unordered {
				return cmp.Compare(a.name, b.name)
			}
			return cmp.Compare(a.order, b.order)
		})
		s := &linkSet{links: l.links, byName: make([]int32, len(l.links))}
		for i := range s.byName {
			s.byName[i] = int32(i)
		}
		slices.SortStableFunc(s.byName, func(a, b int32) int { return cmp.Compare(s.links[a].name, s.links[b].name) })
		return s, int(l.bytes) + 64*len(l.links), nil
	})
}

func (l *linkList) read(f *File, h header) error {
	if h.has(symbolTableMessage) {
		body, err := f.body(h, symbolTableMessage)
		if err != nil {
			return err
		}
		return l.symbolTable(body)
	}
	for _, m := range h {
		if m.kind == linkMessage {
			body, err := f.resolve(m)
			if err != nil {
				return err
			}
			if err := l.message(body); err != nil {
				return err
			}
		}
	}
	body, err := f.body(h, linkInfoMessage)
	if err != nil || body == nil {
		return err
	}
	return l.dense(body)
}

// add keeps a link, if there are not too many.
func (l *linkList) add(k link) error {
	l.bytes += int64(len(k.name) + len(k.target))
	if len(l.links) >= l.maxLinks || l.bytes > l.maxBytes {
		return damaged("a group of more than %d links or %d bytes of names", l.maxLinks, l.maxBytes)
	}
	l.links = append(l.links, k)
	return nil
}

// message decodes a link message.
func (l *linkList) message(body []byte) error {
	const (
		widthBits  = 3
		hasOrder   = 1 << 2
		hasKind    = 1 << 3
		hasCharset = 1 << 4
	)
	c := l.src.decode(body, "link")
	version, flags := c.uint8(), c.uint8()
	if c.err == nil && version != 1 {
		return unsupported("link of version %d, want 1", version)
	}
	var k link
	if flags&hasKind != 0 {
		k.kind = linkKind(c.uint8())
	}
	if flags&hasOrder != 0 {
		k.order = c.uint64()
	} else {
		l.unordered = true
	}
	if flags&hasCharset != 0 {
		c.skip(1)
	}
	length := c.number(1 << (flags & widthBits))
	if c.err == nil && length > uint64(len(c.b)) {
		c.fail("a link with a name of %d bytes in %d", length, len(c.b))
	}
	k.name = string(c.bytes(int(length)))
	switch k.kind {
	case hardLink:
		k.address = c.offset()
	case softLink:
		k.target = string(c.bytes(int(c.uint16())))
	}
	if c.err != nil {
		return c.err
	}
	return l.add(k)
}

// dense reads the links of a group that has many of them: a fractal heap has the link messages, and a B-tree their IDs.
func (l *linkList) dense(body []byte) error {
	const (
		tracked = 1

		byNameKind  = 5
		byOrderKind = 6
	)
	c := l.src.decode(body, "link info")
	version, flags := c.uint8(), c.uint8()
	if c.err == nil && version != 0 {
		return unsupported("link info of version %d, want 0", version)
	}
	if flags&tracked != 0 {
		c.skip(8)
	}
	address, byName := c.offset(), c.offset()
	if c.err != nil {
		return c.err
	}
	if address == undefined {
		return nil
	}
	heap, err := l.src.openFractalHeap(address)
	if err != nil {
		return err
	}
	return l.src.bTree2(byName, func(record []byte, kind uint8) error {
		c := l.src.decode(record, "record of a link")
		switch kind {
		case byNameKind:
			c.skip(4)
		case byOrderKind:
			c.skip(8)
		default:
			return damaged("B-tree of type %d as an index of links, want %d", kind, byNameKind)
		}
		id := c.bytes(7)
		if c.err != nil {
			return c.err
		}
		body, err := heap.object(id)
		if err != nil {
			return err
		}
		return l.message(body)
	})
}

// symbolTable reads the links of a group of the old kind: a B-tree has nodes of symbols, whose names are in a local heap.
func (l *linkList) symbolTable(body []byte) error {
	l.unordered = true
	c := l.src.decode(body, "symbol table message")
	tree, heap := c.offset(), c.offset()
	if c.err != nil {
		return c.err
	}
	names, err := l.src.localHeap(heap)
	if err != nil {
		return err
	}
	t := &symbolTree{list: l, names: names, seen: map[uint64]bool{}}
	return t.node(tree, -1)
}

// localHeap returns the data of a local heap.
func (s *source) localHeap(address uint64) ([]byte, error) {
	c, err := s.cursor(address, int64(8+2*s.lengthSize+s.offsetSize), "local heap")
	if err != nil {
		return nil, err
	}
	c.expect("HEAP")
	if version := c.uint8(); c.err == nil && version != 0 {
		c.fail("local heap of version %d, want 0", version)
	}
	c.skip(3)
	size := c.length()
	c.length()
	data := c.offset()
	if c.err == nil && size > maxNameBytes {
		c.fail("local heap of %d bytes, want at most %d", size, maxNameBytes)
	}
	if c.err != nil {
		return nil, c.err
	}
	b, err := s.bytes(data, int64(size))
	if err != nil {
		return nil, fmt.Errorf("local heap: %w", err)
	}
	return b, nil
}

// A symbolTree reads the B-tree of a group.
type symbolTree struct {
	list  *linkList
	names []byte
	seen  map[uint64]bool // addresses of nodes
}

// visit refuses nodes that were read already: the tree has cycles, or nodes with two parents.
func (t *symbolTree) visit(address uint64) error {
	if t.seen[address] || len(t.seen) == maxNodes {
		return damaged("the node at address %d is twice in the B-tree of a group, or the tree has more than %d nodes", address, maxNodes)
	}
	t.seen[address] = true
	return nil
}

// node reads a node of the tree. The levels of nodes decrease; -1 means any level.
func (t *symbolTree) node(address uint64, level int) error {
	const maxLevel = 32
	if err := t.visit(address); err != nil {
		return err
	}
	s := t.list.src
	head := 4 + 1 + 1 + 2 + 2*s.offsetSize
	c, err := s.cursor(address, int64(head), "B-tree of a group")
	if err != nil {
		return err
	}
	c.expect("TREE")
	kind, have, entries := c.uint8(), int(c.uint8()), int(c.uint16())
	switch {
	case c.err != nil:
	case kind != 0:
		c.fail("B-tree of type %d as an index of a group, want 0", kind)
	case have > maxLevel || level >= 0 && have != level:
		c.fail("B-tree node of level %d at address %d, want %d", have, address, max(level, 0))
	}
	if c.err != nil {
		return c.err
	}
	c, err = s.cursor(address+uint64(head), int64(entries)*int64(s.lengthSize+s.offsetSize), "B-tree of a group")
	if err != nil {
		return err
	}
	for range entries {
		c.length() // the key: the last name of the child before
		child := c.offset()
		if c.err != nil {
			return c.err
		}
		if have > 0 {
			err = t.node(child, have-1)
		} else {
			err = t.symbols(child)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// symbols reads a symbol table node.
func (t *symbolTree) symbols(address uint64) error {
	const (
		head       = 8
		cachedSoft = 2 // the link is a soft link
	)
	if err := t.visit(address); err != nil {
		return err
	}
	s := t.list.src
	c, err := s.cursor(address, head, "symbol table node")
	if err != nil {
		return err
	}
	c.expect("SNOD")
	version := c.uint8()
	c.skip(1)
	count := int(c.uint16())
	if c.err == nil && version != 1 {
		c.fail("symbol table node of version %d, want 1", version)
	}
	if c.err != nil {
		return c.err
	}
	c, err = s.cursor(address+head, int64(count)*int64(2*s.offsetSize+24), "symbol table node")
	if err != nil {
		return err
	}
	for range count {
		name := c.offset()
		k := link{address: c.offset()}
		cached := c.uint32()
		c.skip(4)
		scratch := s.decode(c.bytes(16), "symbol")
		if c.err != nil {
			return c.err
		}
		if k.name, err = t.text(name); err != nil {
			return err
		}
		if cached == cachedSoft {
			k.kind = softLink
			if k.target, err = t.text(uint64(scratch.uint32())); err != nil {
				return err
			}
		}
		if err := t.list.add(k); err != nil {
			return err
		}
	}
	return nil
}

// text returns the text at an offset of the local heap.
func (t *symbolTree) text(offset uint64) (string, error) {
	if offset >= uint64(len(t.names)) {
		return "", damaged("a name at byte %d of a local heap of %d", offset, len(t.names))
	}
	return text(t.names[offset:]), nil
}
