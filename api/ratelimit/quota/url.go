package quota

import (
	"cmp"
	"context"
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
		redis.DialConnectTimeout(timeout),
		redis.DialTLSHandshakeTimeout(timeout),
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
		return location{"unix", u.Path, options}, nil
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
	options = append(options, redis.DialUseTLS(u.Scheme == "rediss"))
	return location{"tcp", net.JoinHostPort(cmp.Or(u.Hostname(), "localhost"), cmp.Or(u.Port(), "6379")), options}, nil
}

// dial makes a connection.
func (l location) dial(ctx context.Context) (redis.Conn, error) {
	return redis.DialContext(ctx, l.network, l.address, l.options...)
}
