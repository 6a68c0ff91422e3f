package main

import (
	"context"
	"fmt"
	"os"

	"github.com/schollz/progressbar/v3"

	"limnomap/data/store"
)

type backupCmd struct {
	File  string `arg:"" help:"File to write: an SQLite database like the first."`
	DB    string `help:"Database: an SQLite file." required:"" placeholder:"FILE"`
	Force bool   `help:"Overwrite an existing file." aliases:"overwrite"`
}

func (backupCmd) Help() string {
	return `Servers and imports continue meanwhile: the copy is the state at its beginning. The file appears when it is complete and
has been verified, or not at all. To restore it, move it (mv) over the database.

A PostgreSQL database is backed up with its own pg_dump.`
}

// Run writes the copy, or nothing.
func (c *backupCmd) Run(ctx context.Context, con *console) error {
	var bar *progressbar.ProgressBar
	revision, err := store.Backup(ctx, c.DB, c.File, &store.BackupOptions{
		Overwrite: c.Force,
		Progress: func(done, total int64) {
			if bar == nil { // now the total is known
				bar = newBar(con, "backing up", total, progressbar.OptionShowBytes(true))
			}
			_ = bar.Set64(done)
		},
	})
	if bar != nil {
		_ = bar.Finish()
	}
	if err != nil {
		return interrupted(ctx, err, "nothing was written")
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(con.out, "%s: revision %d of %s, %s\n", c.File, revision.Number, formatTime(revision.ChangedAt), formatMB(info.Size()))
	return err
}
