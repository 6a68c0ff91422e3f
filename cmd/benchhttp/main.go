// Command benchhttp is the bare server of make bench-http: net/http with the simplest handler that returns the files of a
// folder from memory. It looks the path up in a map, sets the content type and writes the bytes.
//
//	benchhttp ADDRESS FOLDER [CERTIFICATE KEY]   with a certificate by HTTPS and HTTP/2
//	benchhttp view URL                           measures the views of phones at a server (see view.go)
package main

import (
	"io/fs"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "view" {
		viewMain()
		return
	}
	if len(os.Args) != 3 && len(os.Args) != 5 {
		log.Fatal("usage: benchhttp ADDRESS FOLDER [CERTIFICATE KEY], or benchhttp view URL")
	}
	handler, err := newHandler(os.DirFS(os.Args[2]))
	if err != nil {
		log.Fatal(err)
	}
	if len(os.Args) == 5 {
		log.Fatal(http.ListenAndServeTLS(os.Args[1], os.Args[3], os.Args[4], handler))
	}
	log.Fatal(http.ListenAndServe(os.Args[1], handler))
}

// An answer is what the handler returns for a path.
type answer struct {
	contentType, contentEncoding []string // nil if the answer has no such field
	content                      []byte
}

// newHandler returns the handler of a folder's files. A file named *.gz is compressed.
func newHandler(folder fs.FS) (http.Handler, error) {
	answers := make(map[string]answer)
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		a := answer{contentType: []string{"application/json"}}
		if strings.HasSuffix(name, ".png") {
			a.contentType = []string{"image/png"}
		}
		if strings.HasSuffix(name, ".gz") {
			a.contentEncoding = []string{"gzip"}
		}
		a.content, err = fs.ReadFile(folder, name)
		answers["/"+name] = a
		return err
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header()["Content-Type"] = a.contentType
		if a.contentEncoding != nil {
			w.Header()["Content-Encoding"] = a.contentEncoding
		}
		// A write fails when the client has closed the connection.
		_, _ = w.Write(a.content)
	}), err
}
