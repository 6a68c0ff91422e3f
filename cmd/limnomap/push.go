package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/clock"
	"limnomap/data/events/eventlog"
	"limnomap/data/events/push"
	"limnomap/data/events/push/notify"
	"limnomap/data/snapshot"
)

// pushFlags are about notifications in browsers.
type pushFlags struct {
	PushKey      config.Secret `help:"Key with which notifications are signed: limnomap push keys prints one. Without it the page offers none. Prefer LIMNOMAP_PUSH_KEY: command lines are visible to other users." placeholder:"KEY"`
	PushContact  string        `help:"Address of the operator for those of push services, as mailto:lakes@example.org or https://example.org/contact. Needed with --push-key." placeholder:"URL"`
	PushServices []string      `help:"Hosts of push services to which notifications may be sent, with commas between them; *.example.org is all hosts that end so, * is all. A port other than 443 follows its host: push.example.org:8443. By default those of Chrome, Firefox, Edge and Safari: fcm.googleapis.com, jmt17.google.com, updates.push.services.mozilla.com, *.notify.windows.com, *.push.apple.com." placeholder:"HOST,…"`
}

// checkPush returns the errors in the flags.
func (f *pushFlags) checkPush(hasDB bool) error {
	if !f.PushKey.IsSet() {
		return nil
	}
	if _, err := notify.ParseKey(f.PushKey.Reveal()); err != nil {
		return fmt.Errorf("--push-key: %w", err)
	}
	if _, err := f.pushServices(); err != nil {
		return err
	}
	if !hasDB {
		return errors.New("--push-key needs --db: the demo sends no notifications")
	}
	address, isMail := strings.CutPrefix(f.PushContact, "mailto:")
	u, err := url.Parse(f.PushContact)
	if isMail {
		var parsed *mail.Address
		if parsed, err = mail.ParseAddress(address); err == nil && parsed.Address != address {
			err = errors.New("no plain address")
		}
	} else if err == nil && (u.Scheme != "https" || u.Host == "") {
		err = errors.New("wrong")
	}
	if err != nil {
		return fmt.Errorf("--push-contact %q: want mailto:lakes@example.org or https://example.org/contact", f.PushContact)
	}
	return nil
}

// pushServices returns the push services that may be used.
func (f *pushFlags) pushServices() (push.Services, error) {
	if len(f.PushServices) == 0 {
		return push.DefaultServices, nil
	}
	s, err := push.ParseServices(f.PushServices)
	if err != nil {
		err = fmt.Errorf("--push-services: %w", err)
	}
	return s, err
}

// newNotifier returns what sends notifications, nil without a key.
func (c *serveCmd) newNotifier(shown *source, events *eventlog.Keeper, now *clock.Clock, registry prometheus.Registerer, log *slog.Logger) (*notify.Sender, notify.Key, error) {
	attempts := promauto.With(registry).NewCounterVec(prometheus.CounterOpts{
		Name: "limnomap_notifications_total",
		Help: "Notifications that this server sent to push services, by result: taken, refused, or for a browser that is gone.",
	}, []string{"result"})
	for _, result := range []string{"sent", "failed", "gone"} {
		attempts.WithLabelValues(result)
	}
	if !c.PushKey.IsSet() {
		return nil, notify.Key{}, nil
	}
	key, err := notify.ParseKey(c.PushKey.Reveal())
	if err != nil {
		return nil, key, fmt.Errorf("--push-key: %w", err)
	}
	services, err := c.pushServices()
	if err != nil {
		return nil, key, err
	}
	if host := localContact(c.PushContact); host != "" {
		log.Warn("push services may refuse --push-contact: its host is known on local networks only", "host", host)
	}
	return notify.New(notify.Options{
		Store:    shown.store,
		Holder:   rand.Text(),
		Key:      key,
		Contact:  c.PushContact,
		Services: services,
		Allow:    c.allowed(),
		Present:  now.Present,
		Believed: now.Believed,
		Logger:   log,
		Newest: func() (int64, <-chan struct{}, *snapshot.Snapshot) {
			state, news := events.State()
			return state.Newest, news, events.Snapshot()
		},
		Attempted: func(result string) { attempts.WithLabelValues(result).Inc() },
	}), key, nil
}

// localContact returns the host of a checked --push-contact if it is one of local networks, such as localhost; empty for others.
func localContact(contact string) string {
	host := contact[strings.LastIndex(contact, "@")+1:]
	if u, err := url.Parse(contact); err == nil && u.Host != "" {
		host = u.Hostname()
	}
	host = strings.ToLower(strings.Trim(host, "[].")) // of mail: user@[192.0.2.1]
	if ip, err := netip.ParseAddr(strings.TrimPrefix(host, "ipv6:")); err == nil {
		if ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return host
		}
		return ""
	}
	_, domain, found := strings.Cut(host, ".")
	if last := domain[strings.LastIndex(domain, ".")+1:]; !found || slices.Contains(localDomains, last) || strings.HasSuffix(host, ".home.arpa") {
		return host
	}
	return ""
}

// localDomains are names that no one can register: RFC 2606, RFC 6762, and the one that ICANN keeps for private networks.
var localDomains = []string{"localhost", "local", "localdomain", "internal", "lan", "test", "invalid"}

type pushKeysCmd struct{}

func (pushKeysCmd) Help() string {
	return `Keep the key: browsers that subscribed take notifications only with it, and after another one each has to subscribe again.`
}

// Run prints a new key.
func (c *pushKeysCmd) Run(_ context.Context, con *console) error {
	key := notify.NewKey()
	fmt.Fprintf(con.err, "The private key, for limnomap serve --push-key; keep it secret. The public key, which the page tells browsers, is %s.\n", key.Public())
	_, err := fmt.Fprintln(con.out, key.Private())
	return err
}
