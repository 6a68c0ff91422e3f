package rangefile_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"limnomap/data/ingest/rangefile"
)

// Some bytes out of the middle of a file on a server.
func Example() {
	content := strings.NewReader(strings.Repeat("0123456789", 1_000_000))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "digits", time.Unix(1e9, 0), content)
	}))
	defer server.Close()

	f, err := rangefile.Open(context.Background(), server.Client(), server.URL+"/digits", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, 5)
	if _, err := f.ReadAt(p, 5_000_003); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s of %d bytes, of which %d were fetched\n", p, f.Size(), f.Bytes())
	// Output:
	// 34567 of 10000000 bytes, of which 131072 were fetched
}
