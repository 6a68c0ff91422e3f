package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"text/tabwriter"
	"time"

	"limnomap/cmd/limnomap/config"
	"limnomap/data"
	"limnomap/data/events/eventfeed"
	"limnomap/data/events/hook"
	"limnomap/data/events/hook/delivery"
	"limnomap/data/store"
)

// hookFlags say where webhooks may be sent.
type hookFlags struct {
	HooksAllowHTTP bool             `name:"hooks-allow-http" help:"Send webhooks to http:// addresses too: everyone on the way can read them."`
	HooksAllow     []config.Network `help:"Networks that are not public and to which webhooks may be sent, such as that of a receiver in the same data centre." placeholder:"CIDR"`
}

// allowed returns the networks of HooksAllow.
func (f *hookFlags) allowed() (prefixes []netip.Prefix) {
	for _, n := range f.HooksAllow {
		prefixes = append(prefixes, n.Prefix)
	}
	return prefixes
}

// userAgent is how limnomap names itself to receivers of webhooks.
func userAgent() string { return "limnomap/" + buildVersion() }

type hooksCreateCmd struct {
	changedDatabaseFlag
	hookFlags
	URL      string          `name:"url" help:"Address that gets a POST request for each event." required:"" placeholder:"URL"`
	Kinds    eventfeed.Kinds `help:"Kinds of events, with commas between them: ${event_kinds}. By default all." placeholder:"KIND,..."`
	Lakes    []string        `help:"Ids of the lakes. By default all." xor:"where" placeholder:"ID,..."`
	Region   string          `help:"Region of the lakes." xor:"where"`
	BBox     string          `name:"bbox" help:"Box with the lakes, as west,south,east,north in degrees." xor:"where" placeholder:"W,S,E,N"`
	MinLevel int             `help:"Only events of values whose level before or after is at least this. Official statements are always sent." default:"0" allowed:"0..3"`
}

func (hooksCreateCmd) Help() string {
	return `Each event is sent at least once, signed as Standard Webhooks defines it (https://www.standardwebhooks.com): official statements first,
in order, then the others, in order. A server with the same database sends them: limnomap serve --db. A receiver that fails is asked again later and later; after three days and ten attempts its webhook is
dead until limnomap hooks set --state active. Only public addresses are reached, except those of --hooks-allow.`
}

func (c *hooksCreateCmd) filter() (f eventfeed.Filter, err error) {
	f = eventfeed.Filter{Region: c.Region, Kinds: c.Kinds, MinLevel: data.Level(c.MinLevel)}
	for _, text := range c.Lakes {
		id, err := data.ParseLakeID(strings.TrimSpace(text))
		if err != nil {
			return f, fmt.Errorf("--lakes: %w", err)
		}
		f.Lakes = append(f.Lakes, id)
	}
	if c.BBox != "" {
		b, err := data.ParseBox(c.BBox)
		if err != nil {
			return f, fmt.Errorf("--bbox %.80q %w", c.BBox, err)
		}
		f.Box = &b
	}
	return f, nil
}

func (c *hooksCreateCmd) Run(ctx context.Context, con *console) error {
	filter, err := c.filter()
	if err != nil {
		return err
	}
	h := hook.New(c.URL, filter, time.Now())
	if err := h.Check(c.HooksAllowHTTP); err != nil {
		return err
	}
	if err := delivery.CheckReached(ctx, c.URL, c.allowed()); err != nil {
		return fmt.Errorf("--url would never be reached: %w; --hooks-allow names networks that are not public", err)
	}
	return c.change(ctx, con, func(s *store.Store) error {
		if err := s.CreateHook(ctx, h); err != nil {
			return err
		}
		fmt.Fprintf(con.err, "The webhook %s gets the events from now on. Its secret is shown only here.\n", h.ID)
		return showSecret(con, &h)
	})
}

// showSecret prints the id and the secret of a webhook.
func showSecret(con *console, h *hook.Hook) error {
	_, err := fmt.Fprintf(con.out, "%s %s\n", h.ID, h.Secret)
	return err
}

// hookArg names a webhook.
type hookArg struct {
	ID string `arg:"" name:"id" help:"Id of the webhook: limnomap hooks list."`
}

type hooksSetCmd struct {
	changedDatabaseFlag
	hookArg
	State      string `help:"paused: events wait. active: go on with a webhook that is paused or dead." enum:"active,paused" required:"" placeholder:"STATE"`
	SkipMissed bool   `help:"With --state active, begin with the next event, without those that happened meanwhile."`
}

func (c *hooksSetCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, func(s *store.Store) error {
		state, err := s.EventState(ctx)
		if err != nil {
			return err
		}
		waiting := int64(0)
		err = s.UpdateHook(ctx, c.ID, func(h *hook.Hook) error {
			if c.State == hook.Paused.String() {
				h.State = hook.Paused
				return nil
			}
			h.Resume()
			if c.SkipMissed {
				h.Skip(state.Newest)
			}
			waiting = waitingFor(h, state)
			return nil
		})
		switch {
		case err == nil && c.State == hook.Paused.String():
			_, err = fmt.Fprintf(con.err, "The webhook %s is paused. Events wait until it is active again.\n", c.ID)
		case err == nil:
			_, err = fmt.Fprintf(con.err, "The webhook %s is active. Events of the log since its last one: %d.\n", c.ID, waiting)
		}
		return err
	})
}

type hooksRotateCmd struct {
	changedDatabaseFlag
	hookArg
	Overlap config.Period `help:"How long requests are signed with the previous secret too, so that the receiver has time to change." default:"1d" placeholder:"PERIOD"`
}

func (c *hooksRotateCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, func(s *store.Store) error {
		var rotated hook.Hook
		err := s.UpdateHook(ctx, c.ID, func(h *hook.Hook) error {
			h.Rotate(time.Now().Add(time.Duration(c.Overlap)))
			rotated = *h
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(con.err, "Requests are signed with the previous secret too until %s. The new one is shown only here.\n", formatTime(rotated.FormerUntil))
		return showSecret(con, &rotated)
	})
}

type hooksDeleteCmd struct {
	changedDatabaseFlag
	hookArg
}

func (c *hooksDeleteCmd) Run(ctx context.Context, con *console) error {
	return c.change(ctx, con, func(s *store.Store) error {
		if err := s.DeleteHook(ctx, c.ID); err != nil {
			return err
		}
		_, err := fmt.Fprintf(con.err, "The webhook %s is deleted.\n", c.ID)
		return err
	})
}

type hooksTestCmd struct {
	databaseFlag
	hookArg
	hookFlags
}

func (hooksTestCmd) Help() string {
	return `Sends one request of the type test, from this machine, also if the webhook is paused. Exit code 1 if the receiver does not take it.`
}

func (c *hooksTestCmd) Run(ctx context.Context, con *console) error {
	return c.use(ctx, func(s *store.Store) error {
		hooks, err := s.Hooks(ctx)
		if err != nil && !errors.Is(err, hook.ErrBroken) {
			return err
		}
		for i := range hooks {
			h := &hooks[i]
			if h.ID != c.ID {
				continue
			}
			now := time.Now()
			result := delivery.Send(ctx, delivery.NewClient(c.allowed()), h, fmt.Sprintf("test_%s_%d", h.ID, now.UnixNano()), hook.TestBody(h, now), now, userAgent(), c.HooksAllowHTTP)
			if result.Error != "" {
				return fmt.Errorf("the webhook %s failed: %s", h.ID, result.Error)
			}
			_, err := fmt.Fprintf(con.err, "The receiver took the request: %d.\n", result.Status)
			return err
		}
		return errors.Join(fmt.Errorf("%w: %.80q", hook.ErrNoHook, c.ID), err)
	})
}

type hooksListCmd struct {
	databaseFlag
	JSON bool `help:"Print JSON instead of a table."`
}

// A listedHook is a webhook as list --json prints it, without its secret. Times are RFC 3339 in UTC, null for never.
type listedHook struct {
	ID        string   `json:"id"`
	URL       string   `json:"url"`
	State     string   `json:"state"` // active, paused or dead
	Kinds     string   `json:"kinds"` // empty: all
	Lakes     []string `json:"lakes"` // none: all
	Region    string   `json:"region"`
	BBox      string   `json:"bbox"`
	MinLevel  int      `json:"min_level"`
	CreatedAt string   `json:"created_at"`
	After     int64    `json:"after"`   // number of the last event before the first that waits
	Waiting   int64    `json:"waiting"` // events of the log after that one
	// StatementsAfter is the number up to which events about official statements were delivered. What follows is of them, if one fails.
	StatementsAfter int64   `json:"statements_after"`
	Failures        int     `json:"failures"`
	FailingSince    *string `json:"failing_since"`
	NextAt          *string `json:"next_at"`
	Error           *string `json:"error"`
	DeliveredAt     *string `json:"delivered_at"`
}

func (c *hooksListCmd) Run(ctx context.Context, con *console) error {
	return c.use(ctx, func(s *store.Store) error {
		hooks, broken := s.Hooks(ctx)
		if broken != nil && !errors.Is(broken, hook.ErrBroken) {
			return broken
		}
		state, err := s.EventState(ctx)
		if err != nil {
			return err
		}
		list := make([]listedHook, 0, len(hooks)) // none is an empty list
		for i := range hooks {
			list = append(list, listed(&hooks[i], state))
		}
		if c.JSON {
			return errors.Join(printJSON(con.out, list), broken)
		}
		w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tSTATE\tURL\tEVENTS\tWAITING\tDELIVERED\tFAILURES\tERROR")
		for i, l := range list {
			p := hooks[i].Both()
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\t%d\t%s\n", l.ID, l.State, l.URL, l.events(), l.Waiting, formatTime(p.DeliveredAt), l.Failures, p.LastError)
		}
		return errors.Join(w.Flush(), broken)
	})
}

// waitingFor returns how many events of the log follow the last one before the first that waits.
func waitingFor(h *hook.Hook, state data.EventState) int64 {
	return max(0, state.Newest-max(h.Both().After, state.Oldest-1))
}

func listed(h *hook.Hook, state data.EventState) listedHook {
	p := h.Both()
	l := listedHook{ID: h.ID, URL: h.URL, State: h.State.String(), Kinds: h.Filter.Kinds.String(), Lakes: []string{}, Region: h.Filter.Region, MinLevel: int(h.Filter.MinLevel),
		CreatedAt: formatTime(h.CreatedAt), After: p.After, StatementsAfter: h.Statements.After, Waiting: waitingFor(h, state),
		Failures: p.Failures, FailingSince: timeOrNull(p.FailingSince), NextAt: timeOrNull(p.NextAt), DeliveredAt: timeOrNull(p.DeliveredAt)}
	for _, id := range h.Filter.Lakes {
		l.Lakes = append(l.Lakes, string(id))
	}
	if h.Filter.Box != nil {
		l.BBox = h.Filter.Box.String()
	}
	if p.LastError != "" {
		l.Error = &p.LastError
	}
	return l
}

// events returns in a few words which events the webhook gets.
func (l *listedHook) events() string {
	var of []string
	if l.Kinds != "" {
		of = append(of, l.Kinds)
	}
	switch n := len(l.Lakes); {
	case n == 1:
		of = append(of, l.Lakes[0])
	case n > 1:
		of = append(of, fmt.Sprintf("%d lakes", n))
	}
	for _, text := range []string{l.Region, l.BBox} {
		if text != "" {
			of = append(of, text)
		}
	}
	if l.MinLevel > 0 {
		of = append(of, fmt.Sprintf("from level %d", l.MinLevel))
	}
	if len(of) == 0 {
		return "all"
	}
	return strings.Join(of, "; ")
}

type hooksDeliveriesCmd struct {
	databaseFlag
	hookArg
	Limit int  `help:"At most this many, the newest first." default:"20" allowed:"1..100"`
	JSON  bool `help:"Print JSON instead of a table."`
}

// A listedDelivery is an attempt as deliveries --json prints it.
type listedDelivery struct {
	At         string  `json:"at"`
	Seq        int64   `json:"seq"`
	EventID    string  `json:"event_id"`
	Attempt    int     `json:"attempt"`
	Status     *int    `json:"status"` // null without an answer
	Error      *string `json:"error"`  // null if it was delivered
	DurationMS int64   `json:"duration_ms"`
}

func (c *hooksDeliveriesCmd) Run(ctx context.Context, con *console) error {
	return c.use(ctx, func(s *store.Store) error {
		deliveries, err := s.HookDeliveries(ctx, c.ID, c.Limit)
		if err != nil {
			return err
		}
		if c.JSON {
			list := make([]listedDelivery, 0, len(deliveries))
			for i := range deliveries {
				d := &deliveries[i]
				l := listedDelivery{At: formatTime(d.At), Seq: d.Seq, EventID: string(d.Event), Attempt: d.Attempt, DurationMS: d.Duration.Milliseconds()}
				if d.Status != 0 {
					l.Status = &d.Status
				}
				if d.Error != "" {
					l.Error = &d.Error
				}
				list = append(list, l)
			}
			return printJSON(con.out, list)
		}
		w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "AT\tSEQ\tEVENT\tATTEMPT\tSTATUS\tDURATION\tERROR")
		for _, d := range deliveries {
			fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%d\t%s\t%s\n", formatTime(d.At), d.Seq, d.Event, d.Attempt, d.Status, d.Duration, d.Error)
		}
		return w.Flush()
	})
}

// timeOrNull returns a time for JSON, nil for the zero time.
func timeOrNull(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := formatTime(t)
	return &text
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// eventKindNames returns the names of all kinds of events, for --help.
func eventKindNames() string {
	var names []string
	for _, kind := range data.EventKinds() {
		names = append(names, kind.String())
	}
	return strings.Join(names, ", ")
}
