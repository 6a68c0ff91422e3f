package ingest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"limnomap/data"
	"limnomap/data/store"
)

// Plan returns what a decision changes, given all stored statements. Its texts become as in an import. It is an error if an import would reject a
// changed statement.
func Plan(d data.Decision, stored []data.Advisory, opts *Options) ([]data.StatementChange, error) {
	d.Issuer, d.TextEN.Value, d.TextDE.Value, d.URL.Value = oneLine(d.Issuer), textLines(d.TextEN.Value), textLines(d.TextDE.Value), fieldValue(d.URL.Value)
	changes, err := d.Apply(stored)
	for i := range changes {
		a := &changes[i].After
		if err == nil {
			err = a.CheckImport()
		}
		if err == nil {
			err = checkIssued(*a, opts.now())
		}
	}
	if err != nil {
		return nil, err
	}
	return changes, nil
}

// Decide carries out a decision in one transaction: what it changes is imported like a file of official statements, so that records, history and
// events are the same. It returns the changes. The list of imports has them, with the name of the file and who imported it. With DryRun nothing is
// written. Of the options it uses DryRun, Now and Timeout.
func Decide(ctx context.Context, s Store, d data.Decision, name, by string, opts *Options) (changes []data.StatementChange, err error) {
	k, err := newAdvisoryKind(opts, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	var report Report
	err = s.Import(ctx, func(tx store.Tx) error {
		stored, err := tx.Advisories(ctx)
		if err != nil {
			return err
		}
		if changes, err = Plan(d, stored, opts); err != nil || len(changes) == 0 {
			return err
		}
		content, err := rowsOf(changes)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(content)
		tx.Describe(store.ImportInfo{By: by, Files: []store.ImportFile{{Name: name, SHA256: hex.EncodeToString(digest[:]), Statements: store.StatementChanges(changes)}}})
		if report, err = readInto(ctx, tx, k, []File{NewFile(name, bytes.NewReader(content), int64(len(content)))}, opts); err != nil {
			return err
		}
		return opts.finish(report.Rejected, nil)
	})
	if report, err = report.ended(ctx, err); err != nil {
		return nil, err
	}
	if report.Rejected > 0 {
		return nil, errors.New(report.Bad[0].Reason)
	}
	return changes, nil
}

// rowsOf returns the changed statements as a file.
func rowsOf(changes []data.StatementChange) ([]byte, error) {
	statements := make([]data.Advisory, len(changes))
	for i := range changes {
		statements[i] = changes[i].After
	}
	var b bytes.Buffer
	err := writeAdvisories(&b, statements)
	return b.Bytes(), err
}
