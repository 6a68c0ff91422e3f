package push

import (
	"fmt"
	"net/url"
	"strings"
)

// Services are the hosts of push services to which messages may be sent. A host that begins with "*." stands for all hosts that end so, and "*" for all.
type Services []string

// DefaultServices are the push services of Chrome, of Chromium (jmt17), of Firefox, Edge and Safari. They are a list, so that nobody can have the server
// send requests elsewhere.
var DefaultServices = Services{"fcm.googleapis.com", "jmt17.google.com", "updates.push.services.mozilla.com", "*.notify.windows.com", "*.push.apple.com"}

// ParseServices reads hosts.
func ParseServices(hosts []string) (s Services, err error) {
	for _, host := range hosts {
		rest := strings.TrimPrefix(host, "*.")
		if u, err := url.Parse("https://" + rest + "/"); host != "*" && (err != nil || u.Hostname() != rest || rest == "" || strings.Contains(rest, "*")) {
			return nil, fmt.Errorf("push service %.80q: want a host, such as fcm.googleapis.com or *.push.apple.com, or * for all", host)
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
	host := strings.ToLower(u.Hostname())
	for _, allowed := range s {
		suffix, more := strings.CutPrefix(allowed, "*")
		if host == allowed || more && strings.HasSuffix(host, suffix) {
			return nil
		}
	}
	return fmt.Errorf("endpoint: %.80q is none of the push services that this server sends to: %s", host, strings.Join(s, ", "))
}
