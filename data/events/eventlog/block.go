package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"limnomap/data"
)

// A LakeEntry is what was published last about a lake.
type LakeEntry struct {
	ID    data.LakeID
	Value data.EventValue
	// Exceeds reports whether a forecast reaches a level above that of Value, and above 0.
	Exceeds bool
	// Bloom reports whether the part of the lake with a high risk was above the limit when it was known last.
	Bloom bool
	// Record is a hash of all that the lake's record says.
	Record uint64
	// Changed is the number of the moment in which Record changed last.
	Changed int64
}

// A statementEntry is an official statement that was valid.
type statementEntry struct {
	lake data.LakeID
	data.EventAdvisory
	content uint64 // a hash of all that it says
}

// A block is some lakes, or all statements. Lakes are in ascending order of id, those of a block after those of the one before.
type block struct {
	lakes      []LakeEntry
	statements []statementEntry
}

const (
	// lakesInBlock makes blocks of some 100 KB, which both databases store as well as rows of their own.
	lakesInBlock = 8192
	// maxLakeBytes bounds an uncompressed block of lakes, each with an id of at most 256 bytes and 40 others.
	maxLakeBytes = 4 << 20
	// A server holds at most maxStatements, with 64 MiB of texts (package store). With ids of lakes and statements of 256 bytes each and 40
	// others, their uncompressed block has at most maxStatementBytes.
	maxStatements     = 100_000
	maxStatementBytes = 128 << 20
	blockFormat       = 1
)

// ErrDamaged says that stored blocks cannot be read. What was published last is then unknown.
var ErrDamaged = errors.New("the stored state of the log of events is damaged")

var (
	compressor, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)) // valid options cause no error
	decompressor  = newDecompressor(maxLakeBytes)
	// statementDecompressor is for the block of statements.
	statementDecompressor = newDecompressor(maxStatementBytes)
)

func newDecompressor(most uint64) *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(most)) // valid options cause no error
	return d
}

// encode returns the block as bytes.
func (b *block) encode() []byte {
	out := []byte{blockFormat}
	out = binary.AppendUvarint(out, uint64(len(b.lakes)))
	previous := data.LakeID("")
	for i := range b.lakes {
		l := &b.lakes[i]
		out = appendShared(out, string(previous), string(l.ID))
		previous = l.ID
		flags := byte(l.Value.Level+1) & levelBits
		if l.Exceeds {
			flags |= exceedsBit
		}
		if l.Value.MeasuredAt.Known {
			flags |= measuredBit
		}
		if l.Bloom {
			flags |= bloomBit
		}
		out = append(out, flags)
		out = binary.AppendVarint(out, int64(l.Value.Chlorophyll))
		if l.Value.MeasuredAt.Known {
			out = binary.AppendVarint(out, l.Value.MeasuredAt.Value)
		}
		out = binary.LittleEndian.AppendUint64(out, l.Record)
		out = binary.AppendVarint(out, l.Changed)
	}
	out = binary.AppendUvarint(out, uint64(len(b.statements)))
	for i := range b.statements {
		s := &b.statements[i]
		for _, text := range []string{string(s.lake), string(s.ID), s.Issuer, s.URL} {
			out = appendShared(out, "", text)
		}
		out = append(out, byte(s.Kind), byte(s.Cause))
		until := int64(0)
		if !s.ValidUntil.IsZero() {
			until = s.ValidUntil.Unix()
		}
		out = binary.AppendVarint(out, until)
		out = binary.LittleEndian.AppendUint64(out, s.content)
	}
	return compressor.EncodeAll(out, nil)
}

// The bits of a lake's flags.
const (
	levelBits   = 1<<3 - 1 // the level and one
	exceedsBit  = 1 << 3
	measuredBit = 1 << 4
	bloomBit    = 1 << 5
)

// appendShared appends a text as the number of bytes that it begins with as another one does, and the rest.
func appendShared(out []byte, other, text string) []byte {
	n := 0
	for n < min(len(other), len(text)) && other[n] == text[n] {
		n++
	}
	out = binary.AppendUvarint(out, uint64(n))
	out = binary.AppendUvarint(out, uint64(len(text)-n))
	return append(out, text[n:]...)
}

// decode reads what encode returns of the block with that index. The error is [ErrDamaged] for other bytes.
func decode(index int, compressed []byte) (b block, err error) {
	from, most := decompressor, maxLakeBytes
	if index == statementBlock {
		from, most = statementDecompressor, maxStatementBytes
	}
	if len(compressed) > most { // more than plain bytes that cannot be compressed
		return block{}, fmt.Errorf("%w: a block has %d bytes, want at most %d", ErrDamaged, len(compressed), most)
	}
	plain, err := from.DecodeAll(compressed, nil)
	if err != nil {
		return block{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r := blockReader{left: plain}
	if format := r.byte(); format != blockFormat {
		return block{}, fmt.Errorf("%w: a block has the format %d, want %d", ErrDamaged, format, blockFormat)
	}
	const leastLake, leastStatement = 13, 18 // bytes
	b.lakes = make([]LakeEntry, 0, r.count(leastLake, lakesInBlock))
	previous := data.LakeID("")
	for range cap(b.lakes) {
		l := r.lake(previous)
		if l.ID <= previous {
			r.damaged = true
		}
		if r.damaged {
			break
		}
		previous = l.ID
		b.lakes = append(b.lakes, l)
	}
	if n := r.count(leastStatement, maxStatements); n > 0 {
		b.statements = make([]statementEntry, 0, n)
		for range n {
			b.statements = append(b.statements, r.statement())
		}
	}
	if r.damaged || len(r.left) > 0 {
		return block{}, fmt.Errorf("%w: a block with %d bytes ends early or too late", ErrDamaged, len(plain))
	}
	return b, nil
}

// A blockReader reads numbers and texts. If one of them is damaged, it returns zero values from then on.
type blockReader struct {
	left    []byte
	damaged bool
}

func (r *blockReader) take(n uint64) []byte {
	if r.damaged || n > uint64(len(r.left)) {
		r.damaged = true
		return nil
	}
	taken := r.left[:n]
	r.left = r.left[n:]
	return taken
}

func (r *blockReader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *blockReader) unsigned() uint64 {
	v, n := binary.Uvarint(r.left)
	if n <= 0 {
		r.damaged = true
		return 0
	}
	r.take(uint64(n))
	return v
}

func (r *blockReader) signed() int64 {
	v, n := binary.Varint(r.left)
	if n <= 0 {
		r.damaged = true
		return 0
	}
	r.take(uint64(n))
	return v
}

func (r *blockReader) hash() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count returns a number of at most that many parts of at least that many bytes each.
func (r *blockReader) count(least, most int) int {
	n := r.unsigned()
	if n > uint64(min(len(r.left)/least, most)) {
		r.damaged = true
		return 0
	}
	return int(n)
}

// shared reads what appendShared appends.
func (r *blockReader) shared(other string) string {
	n := r.unsigned()
	if n > uint64(len(other)) {
		r.damaged = true
		return ""
	}
	return other[:n] + string(r.take(r.unsigned()))
}

func (r *blockReader) lake(previous data.LakeID) (l LakeEntry) {
	l.ID = data.LakeID(r.shared(string(previous)))
	flags := r.byte()
	l.Value.Level = data.Level(flags&levelBits) - 1
	l.Exceeds, l.Bloom = flags&exceedsBit != 0, flags&bloomBit != 0
	chl := r.signed()
	l.Value.Chlorophyll = data.Chlorophyll(chl)
	if flags&measuredBit != 0 {
		l.Value.MeasuredAt = data.Known(r.signed())
	}
	l.Record = r.hash()
	l.Changed = r.signed()
	if l.Value.Level > data.MaxLevel || chl < int64(data.NoChlorophyll) || chl > int64(data.MaxChlorophyll) {
		r.damaged = true
	}
	return l
}

func (r *blockReader) statement() (s statementEntry) {
	s.lake = data.LakeID(r.shared(""))
	s.ID = data.AdvisoryID(r.shared(""))
	s.Issuer, s.URL = r.shared(""), r.shared("")
	s.Kind, s.Cause = data.AdvisoryKind(r.byte()), data.Cause(r.byte())
	if until := r.signed(); until != 0 {
		s.ValidUntil = time.Unix(until, 0).UTC()
	}
	s.content = r.hash()
	if s.Kind > data.Closure || s.Cause > data.Bacteria {
		r.damaged = true
	}
	return s
}
