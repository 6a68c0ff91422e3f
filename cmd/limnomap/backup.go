package main

import (
	"context"
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"

	"limnomap/data/store"
)

type backupCmd struct {
	File  string `arg:"" help:"What to write: an SQLite database like the first."`
	DB    string `help:"Database: an SQLite file." required:"" placeholder:"FILE"`
	Force bool   `help:"Overwrite a file that is there." aliases:"overwrite"`
}

func (backupCmd) Help() string {
	return `Servers and imports go on meanwhile: the copy is the state at its beginning. The file is there once it is whole and has been
read through, or not at all. To go back to it, move it (mv) over the database.

A PostgreSQL database is backed up with its own pg_dump.`
}

// Run writes the copy, or nothing.
func (c *backupCmd) Run(ctx context.Context, con *console) error {
	var progress func(int64)
	finish := func() {}
	revision, err := store.Backup(ctx, c.DB, c.File, &store.BackupOptions{
		Overwrite: c.Force,
		Progress: func(done, total int64) {
			if progress == nil && isTerminal(con.err) { // the total is known now
				progress, finish = progressOn(con.err, "backing up", total, progressbar.OptionShowBytes(true))
			}
			if progress != nil {
				progress(done)
			}
		},
	})
	finish()
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: revision %d of %s, %s\n", c.File, revision.Number, moment(revision.ChangedAt), megabytes(info.Size()))
	return err
}
