package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/user"
	"strings"
	"text/tabwriter"

	"limnomap/data/ingest"
	"limnomap/data/linetext"
	"limnomap/data/store"
)

// describedStore is a store whose list of imports has the files of an import.
type describedStore struct {
	*store.Store
	from store.ImportInfo
}

func (s describedStore) Import(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Import(ctx, func(tx store.Tx) error {
		tx.Describe(s.from)
		return fn(tx)
	})
}

// recorded returns a store for an import of files, of which it computes the digests.
func recorded(ctx context.Context, s *store.Store, files []ingest.File) (ingest.Store, error) {
	from := store.ImportInfo{By: importer()}
	for _, f := range files {
		digest, err := digestOf(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		from.Files = append(from.Files, store.ImportFile{Name: f.Name, SHA256: digest})
	}
	return describedStore{s, from}, nil
}

// digestOf returns the SHA-256 of a file as it is stored.
func digestOf(ctx context.Context, f ingest.File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	for err == nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		_, err = io.CopyN(h, r, 16<<20)
	}
	if err != io.EOF {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// importer returns the user and the machine, as far as they are known.
func importer() string {
	name, _ := os.Hostname()
	if u, err := user.Current(); err == nil {
		return u.Username + "@" + name
	}
	return name
}

type importsListCmd struct {
	databaseFlag
	JSON bool `help:"Print JSON instead of a table."`
}

func (importsListCmd) Help() string {
	return `Lists the imports that changed something, the newest first, at most 1000: those of limnomap import and of refreshes, and
decisions (limnomap close and reopen, the desk), of which up to 2000 stay when they are older. REFUSED are rows that the
database did not take; rows that could not be read are not counted.`
}

// A listedImport is an import as list --json prints it. Times are RFC 3339 in UTC, null for never.
type listedImport struct {
	Number    int64              `json:"number"`
	At        string             `json:"at"`
	By        string             `json:"by"`
	Files     []store.ImportFile `json:"files"`
	About     []string           `json:"about"`
	Added     int64              `json:"added"`
	Changed   int64              `json:"changed"`
	Unchanged int64              `json:"unchanged"`
	Refused   int64              `json:"refused"`
	State     string             `json:"state"` // undone, stored or final
	UndoneAt  *string            `json:"undone_at"`
}

// importState says whether an import can be undone.
func importState(r *store.ImportRecord) string {
	switch {
	case !r.UndoneAt.IsZero():
		return "undone"
	case r.Undo:
		return "stored"
	}
	return "final"
}

func (c *importsListCmd) Run(ctx context.Context, con *console) error {
	return c.use(ctx, func(s *store.Store) error {
		imports, err := s.Imports(ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			list := make([]listedImport, 0, len(imports)) // none is an empty list
			for i := range imports {
				r := &imports[i]
				list = append(list, listedImport{r.Number, formatTime(r.At), r.By, append([]store.ImportFile{}, r.Files...), r.About,
					r.Added, r.Changed, r.Unchanged, r.Refused, importState(r), timeOrNull(r.UndoneAt)})
			}
			return printJSON(con.out, list)
		}
		w := tabwriter.NewWriter(con.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "NUMBER\tAT\tBY\tSTATE\tADDED\tCHANGED\tUNCHANGED\tREFUSED\tABOUT\tFILES")
		for i := range imports {
			r := &imports[i]
			var files []string
			for _, f := range r.Files {
				files = append(files, strings.TrimSpace(f.Name+" "+f.SHA256[:min(len(f.SHA256), 12)]))
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", r.Number, formatTime(r.At), linetext.Escape(r.By), importState(r), r.Added, r.Changed, r.Unchanged, r.Refused,
				linetext.Escape(strings.Join(r.About, ", ")), linetext.Escape(strings.Join(files, ", ")))
		}
		return w.Flush()
	})
}

type importsUndoCmd struct {
	Number int64 `arg:"" optional:"" help:"Number of the import: limnomap imports list. By default the last one that was not undone."`
	changedDatabaseFlag
	DryRun bool `help:"Report what would be undone, and write nothing."`
}

func (importsUndoCmd) Help() string {
	return `Deletes the rows that the import added, and restores those that it changed as they were before, in one transaction. Running servers show the new state within
seconds, and tell it as events.

An import can be undone if no later one is about the same: lakes, official statements, or observations of the same source; undo the later one first. What imports replaced
is stored up to 64 MiB, some 6 million rows: the oldest is dropped first, and a larger import is final, as are those before a deletion (limnomap delete).
An undo cannot be undone: import the files again. A refresh does not import them again unless they change.`
}

func (c *importsUndoCmd) Run(ctx context.Context, con *console) error {
	err := c.changeUnless(ctx, con, c.DryRun, func(s *store.Store) error {
		r, err := s.Undo(ctx, c.Number, c.DryRun)
		if err != nil {
			return err
		}
		done := "undone"
		if c.DryRun {
			done = "would be undone, nothing was written"
		}
		_, err = fmt.Fprintf(con.out, "Import %d of %s (%s): %d added rows deleted, %d changed rows restored: %s.\n", r.Number, formatTime(r.At),
			linetext.Escape(strings.Join(r.About, ", ")), r.Added, r.Changed, done)
		if err == nil && r.WithoutPixels > 0 {
			_, err = fmt.Fprintf(con.out, "%d of them are values of satellites, without their pixels, which are not stored: import their files again.\n", r.WithoutPixels)
		}
		return err
	})
	return interrupted(ctx, err, "nothing was written")
}
