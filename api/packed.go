package api

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
)

// A packedFile gives a file of the page of which only the compressed form is there. It is unpacked, and compressed anew for
// those who take no brotli, when somebody first asks: the viewer of the interface is fourteen times the page's own script,
// and most servers are never asked for it.
type packedFile func() (*body, error)

// loadPacked finds the packed files of the page, by their paths below the root.
func loadPacked(c *compressor, files fs.FS) (map[string]packedFile, error) {
	packed := make(map[string]packedFile)
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		plain, ok := strings.CutSuffix(name, brotliSuffix)
		if err != nil || entry.IsDir() || !ok {
			return err
		}
		if _, err := fs.Stat(files, plain); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		contentType, ok := contentTypeOf(plain)
		if !ok || !strings.HasPrefix(plain, assets) {
			return fmt.Errorf("page: %s: only files of known media types below %s may be there compressed alone", name, assets)
		}
		packed["/"+plain] = sync.OnceValues(func() (*body, error) { return unpack(c, files, plain, newKind(contentType, cacheForever)) })
		return nil
	})
	return packed, err
}

// unpack makes the body of a packed file.
func unpack(c *compressor, files fs.FS, plain string, k kind) (*body, error) {
	file, err := files.Open(plain + brotliSuffix)
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	defer file.Close()
	content, err := io.ReadAll(brotli.NewReader(file)) // as large as what was built in
	if err != nil {
		return nil, fmt.Errorf("page: %s: %w", plain, err)
	}
	b, err := newBody(c, k, content)
	if err != nil {
		return nil, err
	}
	return b, takeBrotli(b, files, plain+brotliSuffix)
}
