//go:build linux

package attacktest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// runHostiles has hostile clients attack the server until the end, and returns how many attacks they have made.
func (s *target) runHostiles(clients int, end time.Time) (attacks int) {
	var all sync.WaitGroup
	var sent atomic.Int64
	raw := rawRequests(s)
	for i := range clients {
		all.Go(func() { s.hostile(i, end, raw, &sent) }) // ends soon after the end
	}
	all.Wait()
	return int(sent.Load())
}

// hostile attacks until the end, in one way after the other.
func (s *target) hostile(i int, end time.Time, raw []rawRequest, sent *atomic.Int64) {
	random := rand.New(rand.NewPCG(uint64(i), 666))
	for time.Now().Before(end) {
		a := &assault{target: s, network: 220, first: i, hold: min(size(3*time.Second, 200*time.Millisecond), max(time.Until(end), 10*time.Millisecond))}
		n := random.IntN(1 << 30)
		week := func(*assault, int) string { return statsPath + "?date=" + weekBefore(n%(targetWeeks+floodWeeks)) }
		ways := []func(*assault){
			slowReaders(3, true, one(fmt.Sprintf(statusPath+"?max_lat=67&n=%d", n)+"%d")),
			slowReaders(3, true, one(fmt.Sprintf("%s?date=%s&n=%d", geojsonPath, weekBefore(n%targetWeeks), n)+"%d")),
			slowStreams(1, false, 40, 0, func(k int) string { return fmt.Sprintf(statusPath+"?max_lat=67&n=%d.%d", n, k) }),
			requests(10, 5, week, oneAddress),
			requests(30, 10, func(_ *assault, k int) string { return s.tile(n+k*97, 9, "@2x.png") + "?style=dots" }, oneAddress),
			churn(20, func(_ *assault, k int) string { return get(s.tile(n+k*31, 10, ".png") + "?colormap=viridis") }),
			connections(30, 1, "GET /api/v1/bathing-la", ""),
			connections(30, 1, get("/healthz"), ""),
			pipelined(1, 2000, statusPath+"?max_lat=66"),
			endless(1, "GET / HTTP/1.1\r\nHost: lakes\r\n", "X-Endless: a\r\n", 1<<20),
			func(a *assault) {
				client := newClient(a.from(0), 2, 0)
				defer client.CloseIdleConnections()
				for k := range 10 {
					a.request(client, monitorPath, "X-API-Key", fmt.Sprintf("lm_%026d", n+k))
				}
			},
			func(a *assault) {
				for range 10 {
					_, _ = s.Converse(raw[random.IntN(len(raw))].text, 5*time.Second) // its answers are checked by TestRawRequests
				}
			},
			func(a *assault) {
				way := http2Attacks[random.IntN(len(http2Attacks))]
				frames(1, way.read, way.send)(a)
			},
		}
		ways[random.IntN(len(ways))](a)
		sent.Add(1)
		time.Sleep(50 * time.Millisecond)
	}
}
