package limnomaptest

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"time"
)

// An Exchange is what a server answered on one connection.
type Exchange struct {
	Statuses []int
	Headers  []http.Header
	Raw      []byte // all bytes of the answers
}

// Converse sends text on a new connection and reads the answers until the server closes the connection, for at most d.
func (s *Server) Converse(text string, d time.Duration) (got Exchange, err error) {
	conn, err := net.Dial("tcp", s.HostPort())
	if err != nil {
		return got, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(d)); err != nil {
		return got, err
	}
	// The server may answer and close the connection before it has read all of the text, so both directions run at once.
	sent := make(chan struct{})
	go func() { // ends when all is sent or the connection is closed
		defer close(sent)
		if _, err := io.WriteString(conn, text); err == nil {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	defer func() {
		conn.Close()
		<-sent
	}()
	var raw bytes.Buffer
	answers := bufio.NewReader(io.TeeReader(conn, &raw))
	for {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil { // io.EOF, or the connection was reset
			got.Raw = raw.Bytes()
			return got, nil
		}
		got.Statuses, got.Headers = append(got.Statuses, resp.StatusCode), append(got.Headers, resp.Header)
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			got.Raw = raw.Bytes()
			return got, nil
		}
	}
}
