package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// bareCommand makes this program the bare server, as a process of its own: bare ADDRESS FOLDER.
const bareCommand = "bare"

// serveBare is the measure of all others: net/http, and the least handler that gives the bytes of the folder's files. It
// looks the path up in a map, says what type they are, and writes them.
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
		// A failed write means that the client has what it wanted.
		_, _ = w.Write(a.content)
	}))
}
