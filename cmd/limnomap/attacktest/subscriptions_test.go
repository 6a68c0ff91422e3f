//go:build linux

package attacktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"limnomap/data/events/push/pushtest"
)

const subscribePath = "/api/v1/push/subscriptions"

// A subscriber has the keys of a browser and subscribes as its page does.
type subscriber struct {
	browser *pushtest.Browser
	ids     []string // guarded by mu: of what it has subscribed to
	mu      sync.Mutex
}

// body returns a subscription with an endpoint.
func (s *subscriber) body(endpoint string, lakes ...string) []byte {
	text, _ := json.Marshal(map[string]any{ // texts can be encoded
		"endpoint": endpoint, "keys": map[string]string{"p256dh": s.browser.P256dh(), "auth": s.browser.Auth()}, "lakes": lakes, "threshold": "medium", "zone": "Europe/Berlin",
	})
	return text
}

// subscribe posts a body, and notes the id.
func (s *subscriber) subscribe(a *assault, client *http.Client, body []byte) error {
	req, err := http.NewRequest(http.MethodPost, a.Base+subscribePath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	text, err := honestly(client, req, http.StatusOK)
	if err != nil {
		return err
	}
	var answer struct{ ID string }
	if err := json.Unmarshal(text, &answer); err != nil || answer.ID == "" {
		return fmt.Errorf("POST %s: %.200q", subscribePath, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = append(s.ids, answer.ID)
	return nil
}

// unsubscribe ends all that it has subscribed to. Each address may send few requests.
func (s *subscriber) unsubscribe(a *assault) {
	s.mu.Lock()
	ids := s.ids
	s.ids = nil
	s.mu.Unlock()
	each(len(ids), 16, func(i int) {
		client := newClient(fmt.Sprintf("127.224.%d.%d", 1+i/250%250, 1+i%250), 1, 0)
		defer client.CloseIdleConnections()
		err := errRefused
		for tries := 0; err != nil && tries < 100; tries++ {
			var req *http.Request
			if req, err = http.NewRequest(http.MethodDelete, a.Base+subscribePath+"/"+ids[i], nil); err == nil {
				_, err = honestly(client, req, http.StatusNoContent)
			}
		}
		if err != nil {
			a.fail("unsubscribing: %v", err)
		}
	})
}

// comesAndGoes is for an honest reader who subscribes and stops, each time from another address: one may subscribe ten times a minute.
func comesAndGoes(a *assault) (honestAsk, error) {
	browser, err := pushtest.New()
	if err != nil {
		return nil, err
	}
	s := &subscriber{browser: browser}
	return func(_ *http.Client, i int) error {
		client := newClient(fmt.Sprintf("127.225.%d.%d", 1+i/250%250, 1+i%250), 1, 0)
		defer client.CloseIdleConnections()
		if err := s.subscribe(a, client, s.body("https://"+a.hanging[0]+"/honest", a.lakes[7])); err != nil {
			return err
		}
		s.unsubscribe(a)
		return nil
	}, nil
}

// startHanging starts push services that accept connections and never answer, and returns their hosts.
func startHanging(t *testing.T, n int) (hosts []string) {
	t.Helper()
	for i := range n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.6.%d:0", 1+i))
		must(t, err)
		var conns []net.Conn
		var accepting sync.WaitGroup
		accepting.Go(func() { // ends with the listener
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				conns = append(conns, conn)
			}
		})
		t.Cleanup(func() {
			l.Close()
			accepting.Wait()
			for _, conn := range conns {
				conn.Close()
			}
		})
		hosts = append(hosts, l.Addr().String())
	}
	return hosts
}

// subscriptionAttacks returns the attacks on the only endpoint that stores what a client sends.
func subscriptionAttacks() []attack {
	const class = "subscriptions"
	start := "POST " + subscribePath + " HTTP/1.1\r\n" + lineHost + "Content-Type: application/json\r\n"
	return []attack{
		{class, "bodies that do not come", 0, beside(comesAndGoes, connections(size(2000, 60), 250, start+"Content-Length: 10000\r\n\r\n{", " "))},
		{class, "endless bodies", 0, beside(comesAndGoes, endless(size(20, 4), start+"Content-Length: 1000000000000\r\n\r\n{", " ", 16<<20))},
		{class, "endless chunks", 0, beside(comesAndGoes, endless(size(20, 4), start+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n", 16<<20))},
		{class, "wrong ones", 0, beside(comesAndGoes, wrongSubscriptions(size(2000, 100)))},
		{class, "many of one address", 0, beside(comesAndGoes, func(a *assault) {
			const rate = 10 // a minute
			n := size(500, 60)
			taken := manySubscriptions(a, n, oneAddress, func(a *assault, i int) (endpoint string, lakes []string) {
				return fmt.Sprintf("https://%s/one/%d", a.hanging[0], i), a.lakes[i : i+1]
			})
			if taken > n/2+rate {
				a.fail("%d of %d subscriptions of one address were taken", taken, n)
			}
		})},
		{class, "endpoints that hang", 0, beside(comesAndGoes, func(a *assault) {
			manySubscriptions(a, size(600, 70), func(i int) int { return i / 4 }, func(a *assault, i int) (endpoint string, lakes []string) {
				return fmt.Sprintf("https://%s/hang/%d", a.hanging[i%len(a.hanging)], i), []string{"watched_0", "watched_1", "watched_2"}
			})
		})},
	}
}

// manySubscriptions makes n subscriptions, waits until closures have been told to others, and ends them. It returns how many were taken.
func manySubscriptions(a *assault, n int, fromOf func(int) int, of func(a *assault, i int) (endpoint string, lakes []string)) (taken int) {
	browser, err := pushtest.New()
	if err != nil {
		a.fail("%v", err)
		return 0
	}
	s := &subscriber{browser: browser}
	each(n, 16, func(i int) {
		client := newClient(a.from(fromOf(i)), 1, 0)
		defer client.CloseIdleConnections()
		endpoint, lakes := of(a, i)
		outcome := "subscribed"
		if err := s.subscribe(a, client, s.body(endpoint, lakes...)); err != nil {
			outcome = err.Error()
		}
		a.count(outcome)
	})
	for range size(4, 1) {
		a.told()
	}
	taken = len(s.ids)
	s.unsubscribe(a)
	return taken
}

// wrongSubscriptions posts n subscriptions of many kinds, each wrong in one way. None is taken.
func wrongSubscriptions(n int) func(*assault) {
	return func(a *assault) {
		browser, err := pushtest.New()
		if err != nil {
			a.fail("%v", err)
			return
		}
		s := &subscriber{browser: browser}
		right := string(s.body("https://"+a.hanging[0]+"/wrong", a.lakes[0]))
		endpoint := "https://" + a.hanging[0] + "/wrong"
		replaced := func(from, to string) string { return strings.Replace(right, from, to, 1) }
		var bodies []string
		for _, other := range []string{"http://" + a.hanging[0] + "/wrong", "https://127.0.0.1/x", "https://169.254.169.254/latest", "https://user:password@" + a.hanging[0] + "/", "https://" + a.hanging[0] + "@evil.example/",
			"https://evil.example/#" + a.hanging[0], "file:///etc/passwd", "https://" + a.hanging[0] + "/" + strings.Repeat("a", 2000), "", "https://", `https://x/\r\nX-Injected: b`, "javascript:alert(1)"} {
			bodies = append(bodies, replaced(endpoint, other))
		}
		for _, other := range []string{"", "a", strings.Repeat("A", 87), strings.Repeat("=", 87), "<script>"} {
			bodies = append(bodies, replaced(browser.P256dh(), other), replaced(browser.Auth(), other))
		}
		for _, odd := range oddTexts {
			if !strings.Contains(odd, `"`) {
				bodies = append(bodies, replaced(`"`+a.lakes[0]+`"`, `"`+odd[:min(len(odd), 1000)]+`"`), replaced("Europe/Berlin", odd[:min(len(odd), 1000)]), replaced("medium", odd[:min(len(odd), 1000)]))
			}
		}
		bodies = append(bodies, "", "null", "[]", "{}", strings.Repeat("[", 16_000), strings.Repeat(`{"a":`, 3000), right[:len(right)-1], right+right, strings.Repeat(" ", 20_000)+right,
			replaced(`"`+a.lakes[0]+`"`, strings.TrimSuffix(strings.Repeat(`"`+a.lakes[0]+`",`, 200), ",")), replaced(`"lakes":[`, `"lakes":[1e999,`), "\xff\xfe{\x00}\x00")
		each(n, 16, func(i int) {
			client := newClient(a.from(i), 1, 0)
			defer client.CloseIdleConnections()
			req, err := http.NewRequest(http.MethodPost, a.Base+subscribePath, strings.NewReader(bodies[i%len(bodies)]))
			if err != nil {
				a.fail("%v", err)
				return
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(req)
			if err != nil {
				a.count(failureOf(err))
				return
			}
			resp.Body.Close()
			if resp.StatusCode < 400 || resp.StatusCode == http.StatusInternalServerError {
				a.fail("a wrong subscription got %s: %.100q", resp.Status, bodies[i%len(bodies)])
			}
			a.count(fmt.Sprint(resp.StatusCode))
		})
	}
}
