package deploy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"limnomap/cmd/limnomap/limnomaptest"
)

// A mailServer takes e-mails by SMTP (RFC 5321), as far as Python's smtplib speaks it, or refuses them.
type mailServer struct {
	net.Listener
	mu      sync.Mutex
	refuses bool
	mails   []string
}

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s := &mailServer{Listener: l}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(c)
		}
	}()
	return s
}

func (s *mailServer) serve(c net.Conn) {
	defer c.Close()
	fmt.Fprint(c, "220 test\r\n")
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		switch word := strings.ToUpper(strings.Fields(lines.Text() + " x")[0]); word {
		case "DATA":
			s.mu.Lock()
			refuses := s.refuses
			s.mu.Unlock()
			if refuses {
				fmt.Fprint(c, "451 later\r\n")
				continue
			}
			fmt.Fprint(c, "354 go on\r\n")
			var mail strings.Builder
			for lines.Scan() && lines.Text() != "." {
				mail.WriteString(lines.Text() + "\n")
			}
			s.mu.Lock()
			s.mails = append(s.mails, mail.String())
			s.mu.Unlock()
			fmt.Fprint(c, "250 taken\r\n")
		case "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		default:
			fmt.Fprint(c, "250 well\r\n")
		}
	}
}

func (s *mailServer) refuse(refuses bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = refuses
}

func (s *mailServer) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.mails...)
}

// The receiver of webhooks mails each event once, also if the mail server was away, and takes nothing that is not signed.
func TestWebhookMail(t *testing.T) {
	limnomaptest.Need(t, "python3")
	mails := newMailServer(t)
	dir := t.TempDir()
	db := filepath.Join(dir, "lakes.db")
	lakes := limnomaptest.WriteFile(t, dir, "lakes.csv", "id,name,lat,lon\na,Größer See,48,11.5\n")
	limnomaptest.Run(t, "import", "lakes", lakes, "--db", db)
	observe := func(chl string) {
		t.Helper()
		limnomaptest.Run(t, "import", "observations", limnomaptest.WriteFile(t, dir, "obs.csv", "lake_id,date,chl,data_type\na,2026-07-06,"+chl+",satellite\n"), "--db", db)
	}
	observe("5")
	listen := limnomaptest.FreeAddress(t)
	id, secret, _ := strings.Cut(strings.TrimSpace(limnomaptest.Run(t, "hooks", "create", "--db", db, "--hooks-allow-http", "--hooks-allow", "127.0.0.0/8", "--url", "http://"+listen+"/")), " ")
	script := exec.CommandContext(t.Context(), "python3", "examples/webhook_mail.py", "--secret-file", limnomaptest.WriteFile(t, dir, "secret.txt", secret+"\n"),
		"--listen", listen, "--smtp", mails.Addr().String(), "--sender", "lakes@example.org", "--to", "duty@example.org")
	var out limnomaptest.Log
	script.Stdout, script.Stderr = &out, &out
	must(t, script.Start())
	defer func() { _ = script.Process.Kill(); _ = script.Wait() }()
	limnomaptest.Within(t, 2*time.Minute, "the receiver listens", func() bool { return strings.Contains(out.String(), "listening") })

	flags := []string{"--hooks-allow-http", "--hooks-allow", "127.0.0.0/8"}
	limnomaptest.Run(t, append([]string{"hooks", "test", id, "--db", db}, flags...)...)
	s := limnomaptest.Start(t, append([]string{"--db", db}, flags...)...)
	limnomaptest.Within(t, 2*time.Minute, "the log begins", func() bool { return strings.Contains(s.Log.String(), "log of events written") })
	mails.refuse(true)
	observe("60")
	limnomaptest.Within(t, 2*time.Minute, "the mail fails", func() bool { return strings.Contains(out.String(), "no e-mail about event") })
	mails.refuse(false)
	limnomaptest.Within(t, 2*time.Minute, "the mail comes", func() bool { return len(mails.all()) == 2 })
	observe("")
	limnomaptest.Within(t, 2*time.Minute, "the mail comes", func() bool { return len(mails.all()) == 3 })
	for i, want := range []string{"test", "class up", "all-clear"} {
		if mail := mails.all()[i]; !strings.Contains(mail, want) || !strings.Contains(mail, "To: duty@example.org") {
			t.Errorf("mail %d lacks %q:\n%s", i, want, mail)
		}
	}
	for name, send := range map[string]func(h http.Header){
		"no signature":    func(http.Header) {},
		"another's":       func(h http.Header) { h.Set("webhook-signature", "v1,AAAA") },
		"an old one":      func(h http.Header) { h.Set("webhook-timestamp", "1000000000") },
		"not a timestamp": func(h http.Header) { h.Set("webhook-timestamp", "now") },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listen+"/", strings.NewReader("{}"))
		must(t, err)
		r.Header.Set("webhook-id", "x")
		r.Header.Set("webhook-timestamp", fmt.Sprint(time.Now().Unix()))
		send(r.Header)
		answer, err := http.DefaultClient.Do(r)
		must(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s, want 401", name, answer.Status)
		}
	}
	if n := len(mails.all()); n != 3 {
		t.Errorf("%d mails", n)
	}
}
