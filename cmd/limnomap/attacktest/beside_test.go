//go:build linux

package attacktest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// errRefused is in the error of an honest client that got no answer, or was told to come later: no wrong answer.
var errRefused = errors.New("refused")

// An honestAsk sends request i of an honest client, and returns an error if the answer is not right.
type honestAsk func(client *http.Client, i int) error

// honestClients counts the honest clients: each has an address of its own.
var honestClients atomic.Int64

// honestPause keeps an honest client within the rate of the open endpoints, 300 a minute.
const honestPause = 220 * time.Millisecond

// beside runs an attack while an honest client of the same surface asks again and again. prepare is called before the attack. A wrong answer fails the
// test, and so does a client without a right one: after the attack it may ask for as long as patience.
func beside(prepare func(*assault) (honestAsk, error), run func(*assault)) func(*assault) {
	return func(a *assault) {
		ask, err := prepare(a)
		if err != nil {
			a.fail("the honest client: %v", err)
			return
		}
		ended := make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() { a.askHonestly(ask, ended) })
		run(a)
		close(ended)
		asking.Wait()
	}
}

func (a *assault) askHonestly(ask honestAsk, ended <-chan struct{}) {
	n := honestClients.Add(1)
	client := newClient(fmt.Sprintf("127.222.%d.%d", 1+n/250, 1+n%250), 4, probeIdleTime)
	defer client.CloseIdleConnections()
	var times []time.Duration
	var longest time.Duration
	failed := make(map[string]int)
	var end time.Time // of its patience
	for i, last := 0, time.Now(); ; i++ {
		started := time.Now()
		err := ask(client, i)
		longest = max(longest, time.Since(last))
		switch {
		case err == nil:
			times, last = append(times, time.Since(started)), time.Now()
		case errors.Is(err, errRefused):
			failed[err.Error()]++
		default:
			a.fail("an honest client: %v", err)
		}
		select {
		case <-ended:
			if end.IsZero() {
				end = time.Now().Add(patience)
			}
		case <-time.After(honestPause):
		}
		if !end.IsZero() && (len(times) > 0 || time.Now().After(end)) {
			break
		}
	}
	if len(times) == 0 {
		a.fail("an honest client got no right answer, but %s", countsOf(failed))
	}
	slices.Sort(times)
	a.note("honest client: %d right answers, p50 %.1f ms, p99 %.1f ms, longest time without one %.1f s, besides %s", len(times), milliseconds(quantile(times, 50)),
		milliseconds(quantile(times, 99)), longest.Seconds(), countsOf(failed))
}

// honestly sends one request. Its error is an errRefused if the server is busy, and names any other status than want.
func honestly(client *http.Client, req *http.Request, want int) ([]byte, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errRefused, failureOf(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: body %s", errRefused, failureOf(err))
	case resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests:
		return nil, fmt.Errorf("%w: %d", errRefused, resp.StatusCode)
	case resp.StatusCode != want:
		return nil, fmt.Errorf("%s %s: %s, want %d: %.200s", req.Method, req.URL.RequestURI(), resp.Status, want, body)
	}
	return body, nil
}

// moment are the parts of answers that every import changes, and the number of closed lakes, of which each watched one may be one.
var moment = regexp.MustCompile(`"(?:generated_at|snapshot)":"[^"]*"|v=[0-9a-f]+-\d+|"closed":[0-3]\b`)

// lasting returns the digest of an answer without what every import changes.
func lasting(body []byte) string { return digest(moment.ReplaceAll(body, nil)) }

// sameAnswers is for an honest client that gets some paths in turn. The answers are always those before the attack, but for their moment.
func sameAnswers(pathsOf func(a *assault) []string) func(*assault) (honestAsk, error) {
	return func(a *assault) (honestAsk, error) {
		paths := pathsOf(a)
		get := func(client *http.Client, path string) (string, error) {
			req, err := http.NewRequest(http.MethodGet, a.Base+path, nil)
			if err != nil {
				return "", err
			}
			body, err := honestly(client, req, http.StatusOK)
			return lasting(body), err
		}
		client := newClient(fmt.Sprintf("127.223.1.%d", 1+honestClients.Add(1)%250), 1, 0)
		defer client.CloseIdleConnections()
		want := make(map[string]string)
		for end := time.Now().Add(patience); len(want) < len(paths); {
			path := paths[len(want)]
			text, err := get(client, path)
			if err == nil {
				want[path] = text
			} else if !errors.Is(err, errRefused) || time.Now().After(end) {
				return nil, err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return func(client *http.Client, i int) error {
			path := paths[i%len(paths)]
			text, err := get(client, path)
			if err == nil && text != want[path] {
				err = fmt.Errorf("%s: another answer than before the attack", path)
			}
			return err
		}, nil
	}
}

// told returns when a closure that was issued, changed or withdrawn after the call has been told on each way.
func (a *assault) told() {
	if err := a.closures.await(); err != nil {
		a.fail("the watch: %v", err)
	}
}
