package push

import (
	"fmt"
	"net/url"
	"strings"
)

// Services are the hosts of push services to which messages may be sent. A host that begins with "*." stands for all hosts that end so, and "*" for all.
// Only port 443 is reached, or the port that follows a host: at any other one the hosts of push services have nothing that answers.
type Services []string

const httpsPort = "443"

// DefaultServices are the push services of Chrome, of Chromium (jmt17), of Firefox, Edge and Safari. They are a list, so that nobody can have the server
// send requests elsewhere.
var DefaultServices = Services{"fcm.googleapis.com", "jmt17.google.com", "updates.push.services.mozilla.com", "*.notify.windows.com", "*.push.apple.com"}

// ParseServices reads hosts.
func ParseServices(hosts []string) (s Services, err error) {
	for _, host := range hosts {
		rest := strings.TrimPrefix(host, "*.")
		if u, err := url.Parse("https://" + rest + "/"); host != "*" && (err != nil || u.Host != rest || u.Hostname() == "" || strings.HasSuffix(rest, ":") || strings.Contains(rest, "*")) {
			return nil, fmt.Errorf("push service %.80q: want a host, such as fcm.googleapis.com or *.push.apple.com, or * for all, with a port if it is not 443", host)
		}
		s = append(s, strings.ToLower(host))
	}
	return s, nil
}

// Check returns an error for an endpoint at none of the services.
func (s Services) Check(endpoint string) error {
	u, err := url.Parse(endpoint)
	if err != nil {
		return fmt.Errorf("endpoint: %w", err)
	}
	host := serviceOf(u)
	for _, allowed := range s {
		allowed = strings.TrimSuffix(allowed, ":"+httpsPort)
		suffix, more := strings.CutPrefix(allowed, "*")
		if host == allowed || more && strings.HasSuffix(host, suffix) && (suffix != "" || u.Port() == "" || u.Port() == httpsPort) {
			return nil
		}
	}
	return fmt.Errorf("endpoint: %.80q is none of the push services that this server sends to: %s; other ports than 443 must be listed", host, strings.Join(s, ", "))
}

// serviceOf returns the host of an endpoint, with its port if that is not 443.
func serviceOf(u *url.URL) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(u.Host, ":"), ":"+httpsPort))
}
