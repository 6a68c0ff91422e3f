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

	"github.com/gomodule/redigo/redis"
)

// A place is where a Redis server is, and how it is greeted.
type place struct {
	network, address string
	greeting         []redis.DialOption
}

var errURL = errors.New("this is no URL of a Redis server: want redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], " +
	"rediss:// for TLS, or unix://[USER:PASSWORD@]/PATH for a socket")

// databasePath is the path of a URL that names a database by its number, or none: it is 0 then.
var databasePath = regexp.MustCompile(`^(?:/([0-9]{0,4}))?$`)

// parseURL reads the URL of a Redis server. The library's own DialURL repeats it in errors, and knows no sockets.
func parseURL(s string) (place, error) {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.Fragment != "" || strings.Contains(s, "?") { // the bounds are not for sale
		return place{}, errURL
	}
	greeting := []redis.DialOption{
		redis.DialClientName("limnomap"),
		redis.DialConnectTimeout(dialTimeout),
		redis.DialTLSHandshakeTimeout(dialTimeout),
		redis.DialReadTimeout(ioTimeout),
		redis.DialWriteTimeout(ioTimeout),
	}
	password, ok := u.User.Password()
	switch {
	case u.User.Username() != "" && password == "": // the user would not be told to the server at all
		return place{}, errURL
	case ok:
		greeting = append(greeting, redis.DialUsername(u.User.Username()), redis.DialPassword(password))
	}
	if u.Scheme == "unix" {
		if u.Path == "" || u.Host != "" {
			return place{}, errURL
		}
		return place{"unix", u.Path, greeting}, nil
	}
	database := databasePath.FindStringSubmatch(u.Path)
	if u.Scheme != "redis" && u.Scheme != "rediss" || database == nil {
		return place{}, errURL
	}
	if database[1] != "" {
		number, err := strconv.Atoi(database[1])
		if err != nil {
			return place{}, errURL
		}
		greeting = append(greeting, redis.DialDatabase(number))
	}
	greeting = append(greeting, redis.DialUseTLS(u.Scheme == "rediss"))
	return place{"tcp", net.JoinHostPort(cmp.Or(u.Hostname(), "localhost"), cmp.Or(u.Port(), "6379")), greeting}, nil
}

// dial makes a connection.
func (p place) dial(ctx context.Context) (redis.Conn, error) {
	return redis.DialContext(ctx, p.network, p.address, p.greeting...)
}
