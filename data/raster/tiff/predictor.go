package tiff

import "encoding/binary"

// A predictor undoes, in place, what was done to a row of a segment before compression. The distance is that between values of one
// band: the number of bands that are interleaved.
type predictor func(row []byte, distance int)

// undoPredictor returns the predictor of an image, nil if it has none. That of floating-point numbers leaves the row as planes
// of bytes (see planeConverter): only the values of windows are put together.
func (im *Image) undoPredictor() predictor {
	switch im.layout.predictor {
	case 2:
		switch im.sample.Bits {
		case 8:
			return undoBytes
		case 16:
			return undo16(im.file.order)
		case 32:
			return undo32(im.file.order)
		default:
			return undo64(im.file.order)
		}
	case 3:
		return undoBytes
	default:
		return nil
	}
}

// undoBytes adds to each byte the one before it, at the given distance.
func undoBytes(row []byte, distance int) {
	if distance == 1 {
		var sum byte
		for i, v := range row {
			sum += v
			row[i] = sum
		}
		return
	}
	for i := distance; i < len(row); i++ {
		row[i] += row[i-distance]
	}
}

func undo16(order binary.ByteOrder) predictor {
	return func(row []byte, distance int) {
		for i := 2 * distance; i+2 <= len(row); i += 2 {
			order.PutUint16(row[i:], order.Uint16(row[i:])+order.Uint16(row[i-2*distance:]))
		}
	}
}

func undo32(order binary.ByteOrder) predictor {
	return func(row []byte, distance int) {
		for i := 4 * distance; i+4 <= len(row); i += 4 {
			order.PutUint32(row[i:], order.Uint32(row[i:])+order.Uint32(row[i-4*distance:]))
		}
	}
}

func undo64(order binary.ByteOrder) predictor {
	return func(row []byte, distance int) {
		for i := 8 * distance; i+8 <= len(row); i += 8 {
			order.PutUint64(row[i:], order.Uint64(row[i:])+order.Uint64(row[i-8*distance:]))
		}
	}
}
