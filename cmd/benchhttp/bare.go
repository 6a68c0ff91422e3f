package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// bareCommand runs this program as the bare server, in a separate process: bare ADDRESS FOLDER.
const bareCommand = "bare"

// serveBare is what the other servers are compared with: net/http with the simplest handler that returns the files of the
// folder. It looks the path up in a map, sets the content type and writes the bytes.
func serveBare(address, folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	type answer struct {
		contentType []string
		content     []byte
	}
	answers := make(map[string]answer)
	gzip := []string{"gzip"}
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		contentType := "application/json"
		if filepath.Ext(f.Name()) == ".png" {
			contentType = "image/png"
		}
		answers["/"+f.Name()] = answer{[]string{contentType}, content}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header()["Content-Type"] = a.contentType
		if strings.HasSuffix(r.URL.Path, ".gz") {
			w.Header()["Content-Encoding"] = gzip
		}
		// A write fails when the client has closed the connection.
		_, _ = w.Write(a.content)
	}))
}
