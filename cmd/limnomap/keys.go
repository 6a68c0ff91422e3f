package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"limnomap/data/apikey"
	"limnomap/data/store"
)

type keysCreateCmd struct {
	DB      string        `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	Name    string        `help:"Name of the key: whom it is for. It appears in logs." required:""`
	Scope   apikey.Scopes `help:"What the key opens: monitor, the monitoring endpoint; metrics, /metrics where the server has --metrics-key; or both." default:"monitor" placeholder:"SCOPE,..."`
	Expires *period       `help:"How long the key is valid, such as 365d. By default it does not expire." placeholder:"PERIOD"`
}

func (c *keysCreateCmd) Run(ctx context.Context, con *console) error {
	if !apikey.ValidName(c.Name) {
		return fmt.Errorf("--name %q: a key's name is 1 to 64 letters, digits, spaces or any of _.@- and begins with a letter or digit", c.Name)
	}
	if err := checkExpires(c.Expires); err != nil {
		return err
	}
	return withStore(ctx, c.DB, func(s store.Store) error {
		key, k := newKey(c.Expires)
		k.Name, k.Scopes = c.Name, c.Scope
		if err := s.CreateKey(ctx, k); err != nil {
			return err
		}
		return showKey(con, key)
	})
}

// newKey returns the text of a new key and what is stored of it.
func newKey(expires *period) (text string, k apikey.Key) {
	text, k = apikey.New(time.Now().UTC().Truncate(time.Second))
	if expires != nil {
		k.ExpiresAt = k.CreatedAt.Add(time.Duration(*expires))
	}
	return text, k
}

func checkExpires(p *period) error {
	if p != nil && *p == 0 {
		return errors.New("--expires 0: a key is valid for some time, such as 365d, or without --expires for ever")
	}
	return nil
}

func showKey(con *console, text string) error {
	fmt.Fprintln(con.err, "The key is shown this once; the database keeps only its hash. Send it as the header X-API-Key.")
	_, err := fmt.Fprintln(con.out, text)
	return err
}

type keysRotateCmd struct {
	DB      string  `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	Name    string  `arg:"" help:"Name of the key."`
	Overlap period  `help:"How long the former key works on, so that whoever uses it can change over. 0s ends it at once." default:"7d" placeholder:"PERIOD"`
	Expires *period `help:"How long the new key is valid, such as 365d. By default as long as the former one was made for." placeholder:"PERIOD"`
}

func (keysRotateCmd) Help() string {
	return `The new key has the name and the scopes of the former one: limits and logs, which go by the name, do not notice. Both are
listed. A former key that expires earlier than the overlap ends still does so.`
}

func (c *keysRotateCmd) Run(ctx context.Context, con *console) error {
	if err := checkExpires(c.Expires); err != nil {
		return err
	}
	return withStore(ctx, c.DB, func(s store.Store) error {
		text, k := newKey(c.Expires)
		until := k.CreatedAt.Add(time.Duration(c.Overlap))
		err := s.RotateKey(ctx, c.Name, until, func(former apikey.Key) apikey.Key {
			k.Scopes = former.Scopes
			if c.Expires == nil && !former.ExpiresAt.IsZero() {
				k.ExpiresAt = k.CreatedAt.Add(former.ExpiresAt.Sub(former.CreatedAt))
			}
			return k
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(con.err, "The former key of %q works until %s at the latest.\n", c.Name, moment(until))
		return showKey(con, text)
	})
}

type keysListCmd struct {
	DB   string `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	JSON bool   `help:"Print JSON instead of a table."`
}

// A listedKey is a key as list --json prints it. Times are RFC 3339 in UTC, null for never.
type listedKey struct {
	Name       string   `json:"name"`
	State      string   `json:"state"` // valid, expired or revoked
	Scopes     []string `json:"scopes"`
	CreatedAt  string   `json:"created_at"`
	ExpiresAt  *string  `json:"expires_at"`
	RevokedAt  *string  `json:"revoked_at"`
	LastUsedAt *string  `json:"last_used_at"` // to the hour
}

func (c *keysListCmd) Run(ctx context.Context, con *console) error {
	return withStore(ctx, c.DB, func(s store.Store) error {
		keys, err := s.Keys(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			return listKeysJSON(con.out, keys, time.Now())
		}
		return listKeys(con.out, keys, time.Now())
	})
}

func listKeys(out io.Writer, keys []apikey.Key, now time.Time) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tSCOPES\tCREATED\tEXPIRES\tREVOKED\tLAST USED")
	for _, k := range keys {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, keyState(k, now), k.Scopes, moment(k.CreatedAt), moment(k.ExpiresAt), moment(k.RevokedAt), moment(k.UsedAt))
	}
	return w.Flush()
}

func listKeysJSON(out io.Writer, keys []apikey.Key, now time.Time) error {
	orNull := func(t time.Time) *string {
		if t.IsZero() {
			return nil
		}
		text := moment(t)
		return &text
	}
	list := make([]listedKey, 0, len(keys)) // none is an empty list
	for _, k := range keys {
		list = append(list, listedKey{k.Name, keyState(k, now), k.Scopes.Names(), moment(k.CreatedAt), orNull(k.ExpiresAt), orNull(k.RevokedAt), orNull(k.UsedAt)})
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

func keyState(k apikey.Key, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.Valid(now):
		return "expired"
	}
	return "valid"
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

type keysRevokeCmd struct {
	DB   string `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	Name string `arg:"" help:"Name of the key."`
}

func (c *keysRevokeCmd) Run(ctx context.Context, con *console) error {
	return withStore(ctx, c.DB, func(s store.Store) error {
		if err := s.RevokeKey(ctx, c.Name, time.Now().UTC().Truncate(time.Second)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(con.err, "Key %q is revoked, with any that it has taken over from; running servers refuse it within seconds.\n", c.Name)
		return err
	})
}

// withStore runs fn on the database that is already there at dsn.
func withStore(ctx context.Context, dsn string, fn func(store.Store) error) (err error) {
	s, err := store.Open(ctx, dsn, false)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	return fn(s)
}
