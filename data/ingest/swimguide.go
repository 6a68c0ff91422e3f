package ingest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/swimguide"
)

const (
	// maxSwimGuideBytes bounds the documents of one import, all together and expanded: some 100,000 records. All are in memory at once,
	// since the record that ends a warning may be in another file.
	maxSwimGuideBytes = 128 << 20
	// maxValidDays is a year: an advisory of an older document is about another bathing season.
	maxValidDays     = 365
	defaultValidDays = 7
)

// SwimGuide imports the advisories of documents of Swim Guide's open data standard (see [swimguide]) as official statements, in one
// transaction. A rejected record is not an error: it is in the Report.
//
// The lakes must be in the store: the id of a record's location is the id or the external_id of a lake. A record without an advisory
// withdraws the stored statement of its guid, or is left out if there is none. It also ends the warning of the record before it; see
// [swimguide.Advisories]. Of the records of a guid the one that was published or updated last counts; another one of the same time is
// rejected if it differs.
//
// A statement is issued at the publicationTime or the updateTime of its record, whichever is later; a record that was changed before the
// stored statement was issued or withdrawn is older, and left out. The standard has no end of an advisory: one without a next record
// ends opts.ValidDays after it was issued, or at the stored end if that is earlier and the record was not changed since.
//
// No sample value is stored, since an observation needs chlorophyll. Map, Set and MakeIDs are not allowed, since a record has no columns.
func SwimGuide(ctx context.Context, s Store, files []File, opts *Options) (Report, error) {
	if opts == nil {
		opts = &Options{}
	}
	switch {
	case len(files) == 0:
		return Report{}, errors.New("import: there is no file to read")
	case opts.ValidDays < 0 || opts.ValidDays > maxValidDays:
		return Report{}, fmt.Errorf("import: warnings are valid for %d days: want 1 to %d", opts.ValidDays, maxValidDays)
	case len(opts.Map)+len(opts.Set) > 0 || opts.MakeIDs:
		return Report{}, errors.New("import: map, set and make-ids need files with columns")
	}
	ctx, cancel := opts.limitTime(ctx)
	defer cancel()
	im := swimGuideImport{files: files, validDays: cmp.Or(opts.ValidDays, defaultValidDays), now: opts.now(), records: make(map[string]*sampleRecord)}
	err := im.run(ctx, s, opts)
	report, err := im.report.ended(ctx, err)
	return report, prefixed(err)
}

// isSwimGuide reports whether a file is a document of Swim Guide's standard, by its first member. A file that cannot be read is none.
func isSwimGuide(f File) bool {
	r, err := f.Open()
	if err != nil {
		return false
	}
	defer r.Close()
	buffered, end, err := expand(r)
	if err != nil {
		return false
	}
	defer end()
	start, _, err := textStart(buffered, f.Name)
	if err != nil {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(start))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	name, _ := d.Token()
	return name == "$schema" || name == "documentTime" || name == "records"
}

// A swimGuideImport does one import.
type swimGuideImport struct {
	files     []File
	validDays int
	now       time.Time
	maxBytes  int64 // of all files, expanded
	report    Report
	order     []*sampleRecord          // each guid once
	records   map[string]*sampleRecord // by guid
	lakes     map[string]locatedLake   // by the id of a location
	toWrite   []swimguide.Statement
}

// Why records are left out that are not simply without an advisory.
const (
	olderThanOther  = "older than another record of the same guid"
	olderThanStored = "older than what is stored"
)

// A sampleRecord is the latest record of its guid so far.
type sampleRecord struct {
	origin
	swimguide.Record
	repeats   int           // how many equal records followed
	conflicts []conflicting // those that followed, of the same time
}

// A conflicting record has other values than one of the same guid and time.
type conflicting struct {
	origin
	location string
}

// A locatedLake is the lake of a location. If there are several, another is the last of them.
type locatedLake struct{ lake, another data.LakeID }

func (im *swimGuideImport) run(ctx context.Context, s Store, opts *Options) error {
	// The files are read before the transaction, so that no other writer waits for them.
	if err := im.read(ctx, opts); err != nil {
		return err
	}
	im.rejectConflicts()
	if err := im.findLakes(ctx, s); err != nil {
		return err
	}
	statements := im.statements()
	if im.report.Rejected > 0 && !opts.SkipBad {
		return errRejected
	}
	return s.Import(ctx, func(tx store.Tx) error {
		if err := im.compareWithStored(ctx, tx, statements); err != nil {
			return err
		}
		if err := im.write(ctx, tx, im.toWrite); err != nil {
			return err
		}
		return opts.finish(im.report.Rejected, ctx.Err)
	})
}

// read reads all files.
func (im *swimGuideImport) read(ctx context.Context, opts *Options) error {
	input := countingReader{in: newInput(ctx, opts)}
	if im.maxBytes = maxSwimGuideBytes; opts.MaxBytes > 0 {
		im.maxBytes = min(im.maxBytes, opts.MaxBytes)
	}
	left := im.maxBytes
	for i, f := range im.files {
		opened, err := f.Open()
		if err == nil {
			input.Reader = opened
			left, err = im.readFile(i, &input, left)
			opened.Close()
		}
		if err != nil {
			if left < 0 {
				err = tooLarge("the documents have more than %d bytes, all together and after decompression: divide them among several imports", im.maxBytes)
			}
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	input.in.progress(input.in.bytes)
	return nil
}

// readFile reads a file that expands to at most so many bytes. It returns how many are left.
func (im *swimGuideImport) readFile(file int, r io.Reader, most int64) (left int64, err error) {
	buffered, end, err := expand(r)
	if err != nil {
		return most, err
	}
	defer end()
	start, _, err := textStart(buffered, im.files[file].Name)
	if err != nil {
		return most, err
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return most, errors.New("the file is empty: want a document of Swim Guide's standard")
	}
	input := &boundedReader{Reader: buffered, left: most}
	_, err = swimguide.Read(input, func(i int, r swimguide.Record, err error) error {
		im.add(origin{file, i + 1, ofRecords}, r, err)
		return nil
	})
	switch {
	case input.err != nil:
		err = input.err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		err = errStatementsEnd
	case err != nil:
		err = fmt.Errorf("this is no document of Swim Guide's standard 1.0.1: %w", err)
	}
	return input.left, err
}

// A boundedReader ends with an error after so many bytes; then left is negative. It keeps an error other than io.EOF, since a parser
// may hide it.
type boundedReader struct {
	io.Reader
	left int64
	err  error
}

func (b *boundedReader) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, ErrTooLarge
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}

// add adds the next record of the files, which may be invalid.
func (im *swimGuideImport) add(at origin, r swimguide.Record, err error) {
	im.report.Read++
	if err == nil {
		err = im.checkTimes(&r)
	}
	if err == nil {
		err = normalizeTexts(&r)
	}
	if err != nil {
		im.reject(at, r.Location.ID, err)
		return
	}
	r.References = nil                                                                                        // not needed, and may be many
	r.Published, r.Updated, r.Sample.Collected = r.Published.UTC(), r.Updated.UTC(), r.Sample.Collected.UTC() // to compare records
	first, known := im.records[r.GUID]
	switch {
	case !known:
		im.report.Samples++
		im.records[r.GUID] = &sampleRecord{origin: at, Record: r}
		im.order = append(im.order, im.records[r.GUID])
	case reflect.DeepEqual(first.Record, r):
		im.report.Samples++
		first.repeats++
	case r.Changed().Before(first.Changed()):
		im.report.Samples++
		im.report.leaveOut(olderThanOther)
	case r.Changed().After(first.Changed()):
		im.report.Samples += 1 + len(first.conflicts)
		for range 1 + first.repeats + len(first.conflicts) {
			im.report.leaveOut(olderThanOther)
		}
		*first = sampleRecord{origin: at, Record: r}
	default:
		first.conflicts = append(first.conflicts, conflicting{at, r.Location.ID})
	}
}

// normalizeTexts gives a record the texts that its statement has in a table, so that an export can be imported.
func normalizeTexts(r *swimguide.Record) error {
	name := r.Organization
	r.Organization, r.Advisory = oneLine(name), textLines(r.Advisory)
	if r.AdvisoryIssued && r.Organization == "" {
		return fmt.Errorf("organizationName %.80q: want the authority, which issues the advisory", name)
	}
	return nil
}

// rejectConflicts rejects the records that conflict with the latest of their guid. It follows the last file, since an older record does
// not count.
func (im *swimGuideImport) rejectConflicts() {
	for _, first := range im.order {
		for _, c := range first.conflicts {
			im.reject(c.origin, c.location, fmt.Errorf("the guid %s is already %s of %s with other values and the same time: want one record for it",
				first.GUID, first.origin, im.files[first.file].Name))
		}
	}
}

// changed returns when the record was published or updated last, to the second.
func (r *sampleRecord) changed() time.Time { return r.Changed().Truncate(time.Second) }

// compareWithStored sets what to write: the statements of the records that are not older than the stored statements, and the stored ones
// whose records have no advisory any more, which are withdrawn.
func (im *swimGuideImport) compareWithStored(ctx context.Context, tx Tx, statements []swimguide.Statement) error {
	all, err := tx.Advisories(ctx)
	if err != nil {
		return err
	}
	stored := make(map[data.AdvisoryID]data.Advisory, len(all))
	for _, a := range all {
		stored[a.ID] = a
	}
	for _, s := range statements {
		old, ok := stored[s.ID]
		ok = ok && old.Issuer == s.Issuer && old.LakeID == s.LakeID // the store rejects others
		if ok && (s.Issued.Before(old.Issued) || s.Issued.Before(old.Withdrawn)) && !withdrawnAfter(s.Withdrawn, old) {
			im.leaveOut(im.records[s.GUID], olderThanStored)
			continue
		}
		im.update(&s.Advisory, old, ok)
		im.toWrite = append(im.toWrite, s)
	}
	for _, r := range im.order {
		if !r.AdvisoryIssued {
			im.lift(r, stored)
		}
	}
	slices.SortStableFunc(im.toWrite, func(a, b swimguide.Statement) int { return im.compare(a.GUID, b.GUID) })
	return nil
}

// withdrawnAfter reports whether a withdrawal, or the zero time, is not older than the stored statement.
func withdrawnAfter(withdrawn time.Time, old data.Advisory) bool {
	return !withdrawn.IsZero() && !withdrawn.Before(old.Issued) && !withdrawn.Before(old.Withdrawn)
}

// update completes a statement that is not older than the stored one, if there is a stored one.
func (im *swimGuideImport) update(a *data.Advisory, old data.Advisory, isStored bool) {
	sameVersion := isStored && a.Issued.Equal(old.Issued)
	if a.ValidUntil.IsZero() { // no next record
		a.ValidUntil = a.Issued.AddDate(0, 0, im.validDays)
		if sameVersion && !old.ValidUntil.IsZero() && old.ValidUntil.Before(a.ValidUntil) {
			a.ValidUntil = old.ValidUntil // the next record may have been in another import
		}
	}
	switch isRevoked := isStored && !a.Withdrawn.IsZero(); {
	case isRevoked && (old.Withdrawn.IsZero() || old.Withdrawn.Equal(a.Withdrawn) || a.Issued.Before(old.Issued)):
		// What is withdrawn is the stored statement as it was issued: a Cancel of CAP refers to that.
		*a = withdrawn(old, a.Withdrawn)
	case a.Issued.After(im.now) && (!isStored || old.Withdrawn.IsZero()):
		// An update in the future, by a wrong clock or zone, must not hide a warning until then.
		if a.Issued = im.now.UTC().Truncate(time.Second); a.Issued.Before(a.ValidFrom) {
			a.Issued = a.ValidFrom
		}
	}
}

// lift withdraws the stored statement of a record that has no advisory.
func (im *swimGuideImport) lift(r *sampleRecord, stored map[data.AdvisoryID]data.Advisory) {
	old, ok := stored[swimguide.AdvisoryID(r.GUID)]
	switch {
	case !ok:
		im.report.LeftOut += 1 + r.repeats
	case old.Issuer != r.Organization:
		im.rejectAll(r, fmt.Errorf("statement %s of its guid: %s", old.ID, otherStatement))
	case !withdrawnAfter(r.changed(), old):
		im.leaveOut(r, olderThanStored)
	default:
		im.toWrite = append(im.toWrite, swimguide.Statement{Advisory: withdrawn(old, r.changed()), GUID: r.GUID})
	}
}

// withdrawn returns a stored statement as withdrawn at that time, unless it was withdrawn before or is over then.
func withdrawn(old data.Advisory, at time.Time) data.Advisory {
	if old.Withdrawn.IsZero() && (old.ValidUntil.IsZero() || at.Before(old.ValidUntil)) {
		old.Withdrawn = at
	}
	return old
}

// leaveOut adds a record and its repetitions to the report, which are left out.
func (im *swimGuideImport) leaveOut(r *sampleRecord, reason string) {
	for range 1 + r.repeats {
		im.report.leaveOut(reason)
	}
}

// checkTimes returns an error if the record was published or updated in the future or long ago: such a time would keep a warning active,
// or end another.
func (im *swimGuideImport) checkTimes(r *swimguide.Record) error {
	latest := im.now.Add(maxIssuedLead)
	for _, t := range []struct {
		name  string
		value time.Time
	}{{"publicationTime", r.Published}, {"updateTime", r.Updated}} {
		if !t.value.IsZero() && (t.value.After(latest) || t.value.UTC().Year() < firstYear) {
			return fmt.Errorf("%s %s: want a time from %d to %s", t.name, t.value.UTC().Format(time.RFC3339), firstYear, latest.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// reject adds a record to the report that gives no statement. The id of its location may be any text, so only a valid one is named.
func (im *swimGuideImport) reject(at origin, location string, err error) {
	bad := BadRow{File: im.files[at.file].Name, Number: at.number, Reason: err.Error(), unit: at.unit}
	if id, err := data.ParseLakeID(location); err == nil {
		bad.ID = string(id)
	}
	im.report.reject(bad, len(im.report.Bad))
}

// findLakes finds the lakes of the locations with an advisory.
func (im *swimGuideImport) findLakes(ctx context.Context, s Store) error {
	im.lakes = make(map[string]locatedLake)
	for _, r := range im.order {
		if r.AdvisoryIssued {
			im.lakes[r.Location.ID] = locatedLake{}
		}
	}
	if len(im.lakes) == 0 {
		return nil
	}
	return eachLake(ctx, s.Scan, func(l data.Lake) error {
		im.locate(string(l.ID), l.ID)
		im.locate(l.ExternalID, l.ID)
		return nil
	})
}

// locate adds a lake with that id or external id, if it is the id of a location.
func (im *swimGuideImport) locate(location string, lake data.LakeID) {
	switch found, wanted := im.lakes[location]; {
	case !wanted || found.lake == lake:
	case found.lake == "":
		im.lakes[location] = locatedLake{lake: lake}
	default:
		im.lakes[location] = locatedLake{lake: found.lake, another: lake}
	}
}

// lakeOf returns the lake of a location.
func (im *swimGuideImport) lakeOf(l swimguide.Location) (data.LakeID, error) {
	found := im.lakes[l.ID]
	switch {
	case found.lake == "":
		return "", fmt.Errorf("the database holds no lake whose id or external_id is that of the location %.80q (%.80q): import the lakes first", l.ID, l.Name)
	case found.another != "":
		return "", fmt.Errorf("the location %.80q (%.80q) is the id or external_id of the lakes %s and %s: want one lake", l.ID, l.Name, found.lake, found.another)
	}
	return found.lake, nil
}

// statements returns the statements of all records in their order. One without a next record has no end yet.
func (im *swimGuideImport) statements() []swimguide.Statement {
	records := make([]swimguide.Record, len(im.order))
	for i, r := range im.order {
		records[i] = r.Record
	}
	statements, rejected := swimguide.Advisories(records, im.lakeOf)
	slices.SortFunc(rejected, func(a, b swimguide.Rejected) int { return im.compare(a.GUID, b.GUID) })
	for _, r := range rejected {
		im.rejectAll(im.records[r.GUID], r.Err)
		if location := im.records[r.GUID].Location.ID; im.lakes[location].lake == "" {
			im.report.addUnknown(data.LakeID(fmt.Sprintf("%.80s", location)))
		}
	}
	slices.SortFunc(statements, func(a, b swimguide.Statement) int { return im.compare(a.GUID, b.GUID) })
	return statements
}

// compare compares the places of two records in the files.
func (im *swimGuideImport) compare(a, b string) int {
	x, y := im.records[a], im.records[b]
	return cmp.Or(cmp.Compare(x.file, y.file), cmp.Compare(x.number, y.number))
}

// rejectAll rejects a record and its repetitions.
func (im *swimGuideImport) rejectAll(r *sampleRecord, err error) {
	for range 1 + r.repeats {
		im.reject(r.origin, r.Location.ID, err)
	}
}

// write writes the statements.
func (im *swimGuideImport) write(ctx context.Context, tx Tx, statements []swimguide.Statement) error {
	for len(statements) > 0 {
		keep := im.keptBy(&statements[0])
		var batch []data.Advisory
		for len(batch) < min(len(statements), batchRows) && im.keptBy(&statements[len(batch)]) == keep {
			batch = append(batch, statements[len(batch)].Advisory)
		}
		changes, err := tx.PutAdvisories(ctx, batch, keep)
		if err != nil {
			return err
		}
		for i, change := range changes {
			im.count(&statements[i], change)
		}
		statements = statements[len(batch):]
	}
	return nil
}

// keptBy returns the columns that a statement lacks: the standard has neither German texts nor addresses, and a description is optional.
// A document that lacks the record which revokes another leaves it withdrawn, unless it was issued since.
func (im *swimGuideImport) keptBy(s *swimguide.Statement) store.AdvisoryColumns {
	return store.AdvisoryColumns{TextEN: s.TextEN == "", TextDE: true, URL: true, Withdrawn: s.Withdrawn.IsZero()}
}

// count adds a statement to the report, by what the store did with it.
func (im *swimGuideImport) count(s *swimguide.Statement, change store.Change) {
	r := im.records[s.GUID]
	switch {
	case im.report.add(change):
		im.report.Unchanged += r.repeats
	case change == store.UnknownLake: // removed since it was found
		im.report.addUnknown(s.LakeID)
		im.rejectAll(r, errors.New(unknownLake))
	case change == store.OtherStatement:
		im.rejectAll(r, fmt.Errorf("statement %s of its guid: %s", s.ID, otherStatement))
	default:
		im.rejectAll(r, fmt.Errorf("the statement %s of its guid is also that of another record: want one record for it", s.ID))
	}
}
