package main

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// credentialShapes are ways to write a user and a password, most of them wrong. %s is the password.
var credentialShapes = []string{
	"postgres://u:%s@h/d", "postgre://u:%s@h/d?sslmode=disable", "postgres:/u:%s@h/d", "postgres:/u:%s", "postgre:/u:%s", "postgres//u:%s@h/d", "postgres:///u:%s@h/d", " postgres://u:%s@h/d",
	`postgres:\\u:%s@h`, "postgres;//u:%s@h", "postgres://:%s@h", "//u:%s@h/d", "u:%s@h:5432", ":%s@h", "redis:u:%s@h", "redis://:%s@h/1", "http:/u:%s@h/x",
	"https://u:%s@h/x?a=b", "https://%s@h/x", "https://h/x?token=%s", "ftp://u:%s@h/x", "ht tp://u:%s@h/x", "password=%s", "host=h user=u password=%s", "host=h passphrase=%s",
	"tcp(u:%s@h)", "jdbc:postgresql://u:%s@h/d", "file:u:%s@h/d?x=y", `u\:%s@h`, "postgres://u:%s", "postgres%%3A//u%%3A%s%%40h",
}

// The commands that are checked without opening a connection, up to the flag whose value is a secret or is a secret in the wrong place.
var commandsWithValue = [][]string{
	{"config", "serve", "--db="}, {"config", "serve", "--redis="}, {"config", "serve", "--push-key="}, {"config", "serve", "--db=a.db", "--refresh-from="},
	{"config", "refresh", "--db=a.db", "--from=.", "--catalogue-base="}, {"config", "keys", "list", "--db="}, {"config", "warm", "--db="},
	{"config", "serve", "--listen="}, {"config", "serve", "--api-rate="}, {"config", "serve", "--drain="}, {"config", "serve", "--stale-after="}, {"config", "serve", "--cache-memory="},
	{"config", "serve", "--profile="}, {"config", "serve", "--trusted-proxies="}, {"config", "serve", "--cors-origins="}, {"config", "serve", "--frame-ancestors="},
	{"config", "serve", "--public-url="}, {"config", "serve", "--basemap-url="}, {"config", "serve", "--base-path="}, {"config", "serve", "--admin-listen="}, {"config", "serve", "--admin-host="},
	{"config", "serve", "--otlp-endpoint="}, {"config", "serve", "--attribution="}, {"config", "serve", "--contact-name=a", "--contact-url="}, {"config", "serve", "--oldest-week="},
	{"config", "serve", "--refresh-every="}, {"config", "serve", "--tls-cert="}, {"config", "serve", "--places="}, {"config", "serve", "--log-level="}, {"--config="},
	{"config", "serve", ""}, {""}, {"serve", "--", ""}, {"config", "import", "lakes", ""}, {"import", "lakes", "--db=a.db", ""}, {"keys", "create", "--db=absent.db", "--name="},
	{"hooks", "create", "--db=absent.db", "--url=https://h", "--bbox="}, {"hooks", "create", "--db=absent.db", "--url="}, {"backup", "a.db", "--db="},
}

// No output shows a password that is in a setting, whether its URL is right, mistyped or the value of another flag.
func TestPasswordsAreNotShown(t *testing.T) {
	outer := t
	t.Chdir(t.TempDir())
	const letters = "bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ0123456789"
	rapid.Check(t, func(t *rapid.T) {
		password := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 6, 12, -1).Draw(t, "start") +
			rapid.StringOfN(rapid.RuneFrom([]rune(letters+letters+letters+"@/:#?&%=+ '\"\\`<>;.,ßü€😀")), 0, 12, -1).Draw(t, "rest") +
			rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 3, -1).Draw(t, "end")
		value := strings.NewReplacer("%%", "%", "%s", password).Replace(rapid.SampledFrom(credentialShapes).Draw(t, "shape"))
		args := append([]string{}, rapid.SampledFrom(commandsWithValue).Draw(t, "command")...)
		args[len(args)-1] += value
		stdout, stderr, err := runCommand(outer, args...)
		text := stdout + stderr
		if err != nil {
			text += err.Error()
		}
		quoted := strconv.Quote(password)
		for _, form := range []string{password, quoted[1 : len(quoted)-1], url.PathEscape(password), url.QueryEscape(password)} {
			if strings.Contains(text, form) {
				t.Fatalf("limnomap %q shows the password %s:\n%s", args, password, text)
			}
		}
	})
}
