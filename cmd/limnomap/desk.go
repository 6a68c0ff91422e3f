package main

import (
	"context"
	"errors"
	"time"

	"limnomap/data"
	"limnomap/data/ingest"
	"limnomap/data/store"
)

// checkDesk checks that a server with a desk has what it needs.
func (c *serveCmd) checkDesk() error {
	switch {
	case !c.Desk:
		return nil
	case c.AdminListen == "":
		return errors.New("--desk needs --admin-listen: the desk is on that listener only")
	case !c.DB.IsSet():
		return errors.New("--desk needs --db: the demo cannot be changed")
	}
	return nil
}

// deskStatements are the official statements that people change at the desk.
type deskStatements struct {
	*store.Store
	now func() time.Time
}

func (s deskStatements) options() *ingest.Options { return &ingest.Options{Now: s.now} }

func (s deskStatements) Plan(d data.Decision, stored []data.Advisory) ([]data.StatementChange, error) {
	return ingest.Plan(d, stored, s.options())
}

func (s deskStatements) Decide(ctx context.Context, d data.Decision, by string) ([]data.StatementChange, error) {
	return ingest.Decide(ctx, s.Store, d, "desk", by, s.options())
}
