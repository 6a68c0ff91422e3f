package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"text/tabwriter"
	"time"

	"limnomap/data"
	"limnomap/data/store"
)

// keyPrefix lets a person, and a scanner for leaked secrets, see what the text is.
const keyPrefix = "limnomap_"

var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.@ -]{0,63}$`)

type keysCreateCmd struct {
	DB      string  `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
	Name    string  `help:"Name of the key: whom it is for. It appears in logs." required:""`
	Expires *period `help:"How long the key is valid, such as 365d. By default it does not expire." placeholder:"PERIOD"`
}

func (c *keysCreateCmd) Run(ctx context.Context, con *console) error {
	if !keyName.MatchString(c.Name) {
		return fmt.Errorf("--name %q: a key's name is 1 to 64 letters, digits, spaces or any of _.@- and begins with a letter or digit", c.Name)
	}
	if c.Expires != nil && *c.Expires == 0 {
		return errors.New("--expires 0: a key is valid for some time, such as 365d, or without --expires for ever")
	}
	return withStore(ctx, c.DB, func(s store.Store) error {
		key := keyPrefix + rand.Text() // at least 128 bits
		now := time.Now().UTC().Truncate(time.Second)
		k := data.APIKey{Name: c.Name, Hash: sha256.Sum256([]byte(key)), CreatedAt: now}
		if c.Expires != nil {
			k.ExpiresAt = now.Add(time.Duration(*c.Expires))
		}
		if err := s.CreateKey(ctx, k); err != nil {
			return err
		}
		fmt.Fprintln(con.err, "The key is shown this once; the database keeps only its hash. Send it as the header X-API-Key.")
		_, err := fmt.Fprintln(con.out, key)
		return err
	})
}

type keysListCmd struct {
	DB string `help:"Database: an SQLite file, or the postgres:// URL of a PostgreSQL database, best said by LIMNOMAP_DB: no list of processes shows its password then." required:"" placeholder:"FILE|URL" secret:""`
}

func (c *keysListCmd) Run(ctx context.Context, con *console) error {
	return withStore(ctx, c.DB, func(s store.Store) error {
		keys, err := s.Keys(ctx)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NAME\tSTATE\tCREATED\tEXPIRES\tREVOKED")
		for _, k := range keys {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", k.Name, keyState(k, time.Now()), moment(k.CreatedAt), moment(k.ExpiresAt), moment(k.RevokedAt))
		}
		return w.Flush()
	})
}

func keyState(k data.APIKey, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked"
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
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
		_, err := fmt.Fprintf(con.err, "Key %q is revoked; running servers refuse it within seconds.\n", c.Name)
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
