package quota

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
)

// A location is the address of a Redis server, and how to log in.
type location struct {
	network, address string
	timeout          time.Duration // of connecting, and of the TLS handshake
	tls              *tls.Config   // nil without TLS
	options          []redis.DialOption
}

var errURL = errors.New("not the URL of a Redis server: want redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], " +
	"rediss:// for TLS, or unix://[USER:PASSWORD@]/PATH for a socket")

// databasePath is the path of a URL: the number of a database, or nothing for 0.
var databasePath = regexp.MustCompile(`^(?:/([0-9]{0,4}))?$`)

// parseURL reads the URL of a Redis server. The library's DialURL shows the URL in errors, and does not support sockets.
func parseURL(s string, timeout time.Duration) (location, error) {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Fragment != "" || strings.Contains(s, "?") { // timeouts cannot be changed
		return location{}, errURL
	}
	options := []redis.DialOption{
		redis.DialClientName("limnomap"),
		redis.DialReadTimeout(timeout),
		redis.DialWriteTimeout(timeout),
	}
	password, ok := u.User.Password()
	switch {
	case u.User.Username() != "" && password == "": // the library would ignore the user
		return location{}, errURL
	case ok:
		options = append(options, redis.DialUsername(u.User.Username()), redis.DialPassword(password))
	}
	if u.Scheme == "unix" {
		if u.Path == "" || u.Host != "" {
			return location{}, errURL
		}
		return location{network: "unix", address: u.Path, timeout: timeout, options: options}, nil
	}
	database := databasePath.FindStringSubmatch(u.Path)
	if u.Scheme != "redis" && u.Scheme != "rediss" || database == nil {
		return location{}, errURL
	}
	if database[1] != "" {
		number, err := strconv.Atoi(database[1])
		if err != nil {
			return location{}, errURL
		}
		options = append(options, redis.DialDatabase(number))
	}
	host := cmp.Or(u.Hostname(), "localhost")
	l := location{network: "tcp", address: net.JoinHostPort(host, cmp.Or(u.Port(), "6379")), timeout: timeout, options: options}
	if u.Scheme == "rediss" {
		l.tls = &tls.Config{ServerName: host}
	}
	return l, nil
}

// dial makes a connection.
func (l location) dial(ctx context.Context) (redis.Conn, error) {
	return redis.DialContext(ctx, l.network, l.address, append(l.options[:len(l.options):len(l.options)], redis.DialContextFunc(l.connect))...)
}

// connect makes the connection that dial uses. It does the TLS handshake too, since replies are bounded as they are decrypted.
func (l location) connect(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: l.timeout}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if l.tls != nil {
		ctx, cancel := context.WithTimeout(ctx, l.timeout)
		defer cancel()
		secure := tls.Client(conn, l.tls)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		conn = secure
	}
	return &boundedConn{Conn: conn}, nil
}
