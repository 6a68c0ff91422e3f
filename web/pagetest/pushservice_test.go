//go:build long

package pagetest

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"google.golang.org/protobuf/encoding/protowire"
)

// A pushService is a push service of one Chromium: what is sent to its endpoints (RFC 8030) it passes on, encrypted as it is. It speaks the part of
// Google Cloud Messaging that Chromium needs: check-in and registration over HTTP, and messages over one lasting TLS connection, each a tag, a length
// and a protocol buffer (google_apis/gcm/protocol in Chromium's sources).
type pushService struct {
	endpoints *httptest.Server // for senders
	accounts  *httptest.Server
	messages  net.Listener // for Chromium

	mu         sync.Mutex
	app        string   // Chromium's name for the subscription
	sender     string   // the public key of whoever may send
	connection net.Conn // nil before Chromium has logged in
	sent       int
}

// The tags of messages, and the version of the protocol (google_apis/gcm/base/mcs_util.h and socket_stream.h).
const (
	mcsVersion       = 41
	mcsLoginRequest  = 2
	mcsLoginResponse = 3
	mcsDataMessage   = 8
)

func newPushService(t *testing.T) *pushService {
	t.Helper()
	s := &pushService{}
	s.endpoints = httptest.NewTLSServer(http.HandlerFunc(s.push))
	t.Cleanup(s.endpoints.Close)
	accounts := http.NewServeMux()
	accounts.HandleFunc("POST /checkin", checkIn)
	accounts.HandleFunc("POST /register", s.register)
	s.accounts = httptest.NewServer(accounts)
	t.Cleanup(s.accounts.Close)
	var err error
	if s.messages, err = tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: s.endpoints.TLS.Certificates}); err != nil {
		t.Fatal(err)
	}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			c, err := s.messages.Accept()
			if err != nil {
				return
			}
			connections.Go(func() {
				defer c.Close()
				if err := s.serve(c); err != nil && !errors.Is(err, io.EOF) {
					t.Logf("push service: %v", err)
				}
			})
		}
	})
	t.Cleanup(func() {
		s.messages.Close()
		s.mu.Lock()
		if s.connection != nil {
			s.connection.Close()
		}
		s.mu.Unlock()
		connections.Wait()
	})
	return s
}

// flags are those with which Chromium uses the service.
func (s *pushService) flags() []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{
		chromedp.Flag("gcm-checkin-url", s.accounts.URL+"/checkin"),
		chromedp.Flag("gcm-registration-url", s.accounts.URL+"/register"),
		chromedp.Flag("gcm-mcs-endpoint", "https://"+s.messages.Addr().String()),
		chromedp.Flag("ignore-certificate-errors", true),
		chromedp.Flag("disable-background-networking", false),
	}
}

// count returns how many messages were taken.
func (s *pushService) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// checkIn gives a device an id and a token: fields 7 and 8 of AndroidCheckinResponse.
func checkIn(w http.ResponseWriter, _ *http.Request) {
	b := appendNumber(nil, 1, 1) // the statistics are accepted
	b = appendNumber(b, 3, uint64(time.Now().UnixMilli()))
	for number := protowire.Number(7); number <= 8; number++ {
		b = protowire.AppendTag(b, number, protowire.Fixed64Type)
		b = protowire.AppendFixed64(b, 1)
	}
	_, _ = w.Write(b)
}

// register notes for which subscription messages will be, and gives it a token.
func (s *pushService) register(w http.ResponseWriter, r *http.Request) {
	if app := r.FormValue("X-subtype"); app != "" {
		s.mu.Lock()
		s.app, s.sender = app, r.FormValue("sender")
		s.mu.Unlock()
	}
	_, _ = io.WriteString(w, "token=the-token")
}

// push takes a message and passes it on.
func (s *pushService) push(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.connection == nil || r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "aes128gcm" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.sent++
	b := appendText(nil, 3, s.sender)
	b = appendText(b, 5, "org.chromium.linux")
	b = appendText(b, 7, string(appendText(appendText(nil, 1, "subtype"), 2, s.app)))
	b = appendText(b, 7, string(appendText(appendText(nil, 1, "content-encoding"), 2, "aes128gcm")))
	b = appendText(b, 9, fmt.Sprint("message ", s.sent))
	b = appendText(b, 21, string(body))
	if _, err := s.connection.Write(frame(mcsDataMessage, b)); err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusCreated)
}

// serve answers Chromium on one connection, until it ends.
func (s *pushService) serve(c net.Conn) error {
	r := bufio.NewReader(c)
	if version, err := r.ReadByte(); err != nil || version != mcsVersion {
		return errors.Join(err, fmt.Errorf("version %d", version))
	}
	for {
		tag, err := r.ReadByte()
		if err != nil {
			return err
		}
		length, err := binary.ReadUvarint(r)
		if err != nil {
			return err
		}
		if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
			return err
		}
		if tag != mcsLoginRequest {
			continue // acknowledgements and heartbeats
		}
		s.mu.Lock()
		_, err = c.Write(append([]byte{mcsVersion}, frame(mcsLoginResponse, appendText(nil, 1, "login"))...))
		s.connection = c
		s.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// frame returns a message with its tag and length.
func frame(tag byte, message []byte) []byte {
	return append(binary.AppendUvarint([]byte{tag}, uint64(len(message))), message...)
}

func appendText(b []byte, number protowire.Number, text string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), text)
}

func appendNumber(b []byte, number protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
}
