package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"limnomap/cmd/limnomap/config"
	"limnomap/data/apikey"
	"limnomap/data/store"
)

type keysCreateCmd struct {
	changedDatabaseFlag
	Name    string         `help:"Name of the key: who uses it. It appears in logs." required:"" check:"key-name"`
	Scope   apikey.Scopes  `help:"What the key gives access to: monitor, the monitoring endpoint; metrics, /metrics if the server has --metrics-key; advisories, the desk of a server with --desk, to close lakes; or several." default:"monitor" placeholder:"SCOPE,..."`
	Expires *config.Period `help:"How long the key is valid, such as 365d. By default it does not expire." allowed:"1s.." placeholder:"PERIOD"`
}

func (c *keysCreateCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, func(s *store.Store) error {
		key, k := newKey(c.Expires)
		k.Name, k.Scopes = c.Name, c.Scope
		if err := s.CreateKey(ctx, k); err != nil {
			return err
		}
		return showKey(con, key)
	})
}

// newKey returns the text of a new key, and the record of it in the database.
func newKey(expires *config.Period) (text string, k apikey.Key) {
	text, k = apikey.New(time.Now().UTC().Truncate(time.Second))
	if expires != nil {
		k.ExpiresAt = k.CreatedAt.Add(time.Duration(*expires))
	}
	return text, k
}

func showKey(con *console, text string) error {
	fmt.Fprintln(con.err, "The key is shown only once; the database stores only its hash. Send it in the header X-API-Key.")
	_, err := fmt.Fprintln(con.out, text)
	return err
}

type keysRotateCmd struct {
	changedDatabaseFlag
	Name    string         `arg:"" help:"Name of the key."`
	Overlap config.Period  `help:"How long the previous key stays valid, so that its users have time to change. 0s ends it at once." default:"7d" placeholder:"PERIOD"`
	Expires *config.Period `help:"How long the new key is valid, such as 365d. By default as long as the previous one was." allowed:"1s.." placeholder:"PERIOD"`
}

func (keysRotateCmd) Help() string {
	return `The new key has the name and the scopes of the previous one, so limits and logs, which use the name, do not change. Both
are listed. A previous key that expires before the end of the overlap still does so.`
}

func (c *keysRotateCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, func(s *store.Store) error {
		text, k := newKey(c.Expires)
		until := k.CreatedAt.Add(time.Duration(c.Overlap))
		err := s.RotateKey(ctx, c.Name, until, func(previous apikey.Key) apikey.Key {
			k.Scopes = previous.Scopes
			if c.Expires == nil && !previous.ExpiresAt.IsZero() {
				k.ExpiresAt = k.CreatedAt.Add(previous.ExpiresAt.Sub(previous.CreatedAt))
			}
			return k
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(con.err, "The previous key of %q is valid until %s at the latest.\n", c.Name, formatTime(until))
		return showKey(con, text)
	})
}

type keysListCmd struct {
	databaseFlag
	JSON bool `help:"Print JSON instead of a table."`
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
	return c.use(ctx, func(s *store.Store) error {
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
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", k.Name, keyState(k, now), k.Scopes, formatTime(k.CreatedAt), formatTime(k.ExpiresAt), formatTime(k.RevokedAt), formatTime(k.UsedAt))
	}
	return w.Flush()
}

func listKeysJSON(out io.Writer, keys []apikey.Key, now time.Time) error {
	list := make([]listedKey, 0, len(keys)) // none is an empty list
	for _, k := range keys {
		list = append(list, listedKey{k.Name, keyState(k, now), k.Scopes.Names(), formatTime(k.CreatedAt), timeOrNull(k.ExpiresAt), timeOrNull(k.RevokedAt), timeOrNull(k.UsedAt)})
	}
	return printJSON(out, list)
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

type keysRevokeCmd struct {
	changedDatabaseFlag
	Name string `arg:"" help:"Name of the key."`
}

func (c *keysRevokeCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, func(s *store.Store) error {
		if err := s.RevokeKey(ctx, c.Name, time.Now().UTC().Truncate(time.Second)); err != nil {
			return err
		}
		_, err := fmt.Fprintf(con.err, "The key %q is revoked, with the previous keys of that name; running servers refuse it within seconds.\n", c.Name)
		return err
	})
}
