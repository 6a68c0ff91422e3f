//go:build linux

package attacktest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"limnomap/cmd/limnomap/limnomaptest"
)

// hostileVariable tells the binary of these tests to be hostile clients of another one: a process of its own, whose work does not
// count as time of the server or of the honest clients.
const hostileVariable = "ATTACKTEST_HOSTILE"

// A hostileTask tells hostile clients what to do. They write how many attacks they have made.
type hostileTask struct {
	Base    string
	Key     string
	Lakes   []string
	At      []orb.Point
	Clients int
	Time    time.Duration
}

// runHostiles are the hostile clients.
func runHostiles(in io.Reader, out io.Writer) (exitCode int) {
	var task hostileTask
	err := yieldProcessor()
	if err == nil {
		err = json.NewDecoder(in).Decode(&task)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile clients:", err)
		return 1
	}
	s := &target{Server: &limnomaptest.Server{Base: task.Base}, key: task.Key, lakes: task.Lakes, at: task.At}
	raw, end := rawRequests(s), time.Now().Add(task.Time)
	var all sync.WaitGroup
	var attacks atomic.Int64
	for i := range task.Clients {
		all.Go(func() { s.hostile(i, end, raw, &attacks) }) // ends soon after the end
	}
	all.Wait()
	if _, err := fmt.Fprintln(out, attacks.Load()); err != nil {
		return 1
	}
	return 0
}

// runHostileProcess has hostile clients attack the server for that long, and returns how many attacks they have made.
func (s *target) runHostileProcess(t *testing.T, clients int, d time.Duration) (attacks int) {
	task, err := json.Marshal(hostileTask{Base: s.Base, Key: s.key, Lakes: s.lakes, At: s.at, Clients: clients, Time: d})
	if err != nil {
		t.Error(err)
		return 0
	}
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return 0
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), hostileVariable+"=1")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(task), os.Stderr
	text, err := cmd.Output()
	if err == nil {
		_, err = fmt.Sscan(string(text), &attacks)
	}
	if err != nil || attacks == 0 {
		t.Errorf("the hostile clients have made %d attacks: %v", attacks, err)
	}
	return attacks
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
			slowReaders(3, true, one(fmt.Sprintf(streamPath+"?since=0&n=%d", n)+"%d")),
			oddReconnects(10),
			requests(20, 5, func(_ *assault, k int) string {
				return "/lakes/" + s.lakes[(n+k)%len(s.lakes)] + []string{"", "/sign", "/preview.png", "/badge.svg"}[k%4]
			}, oneAddress, "Accept-Language", languages[n%len(languages)]),
			requests(20, 5, func(_ *assault, k int) string { return searchPath + "?limit=50&q=" + oddTexts[(n+k)%len(oddTexts)] }, oneAddress),
			connections(10, 1, "POST "+subscribePath+" HTTP/1.1\r\n"+lineHost+"Content-Length: 10000\r\n\r\n{", " "),
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
