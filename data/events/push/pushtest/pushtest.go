// Package pushtest reads what is sent to browsers by Web Push, for tests.
package pushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A Browser has the keys of a subscription, and reads messages to it as RFC 8291 says.
type Browser struct {
	private *ecdh.PrivateKey
	auth    []byte
}

// NewBrowser returns a Browser with random keys.
func NewBrowser(t testing.TB) *Browser {
	t.Helper()
	b, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// New is NewBrowser for a process that runs no test of its own.
func New() (*Browser, error) {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	b := &Browser{private, make([]byte, 16)}
	rand.Read(b.auth) // never fails
	return b, nil
}

// P256dh and Auth return the keys as a PushSubscription has them.
func (b *Browser) P256dh() string {
	return base64.RawURLEncoding.EncodeToString(b.private.PublicKey().Bytes())
}
func (b *Browser) Auth() string { return base64.RawURLEncoding.EncodeToString(b.auth) }

// Decrypt reads a body in the coding aes128gcm (RFC 8188) with one record.
func (b *Browser) Decrypt(body []byte) ([]byte, error) {
	if len(body) < 21 || len(body) < 21+int(body[20]) {
		return nil, fmt.Errorf("a body of %d bytes", len(body))
	}
	salt, size, sender, record := body[:16], binary.BigEndian.Uint32(body[16:]), body[21:21+int(body[20])], body[21+int(body[20]):]
	if len(record) > int(size) || len(body) > 4096 {
		return nil, fmt.Errorf("a record of %d bytes in a body of %d, with the size %d", len(record), len(body), size)
	}
	other, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	secret, err := b.private.ECDH(other)
	if err != nil {
		return nil, err
	}
	var failed error
	derive := func(secret, salt []byte, info string, n int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, n)
		failed = errors.Join(failed, err)
		return key
	}
	ikm := derive(secret, b.auth, "WebPush: info\x00"+string(b.private.PublicKey().Bytes())+string(sender), 32)
	key, nonce := derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16), derive(ikm, salt, "Content-Encoding: nonce\x00", 12)
	if failed != nil {
		return nil, failed
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, nonce, record, nil)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(string(plain), "\x00")
	if !strings.HasSuffix(text, "\x02") {
		return nil, errors.New("the last record has no delimiter")
	}
	return []byte(strings.TrimSuffix(text, "\x02")), nil
}
