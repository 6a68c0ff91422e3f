package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"limnomap/data"
)

// The indices of the columns of results of the Water Quality Portal (waterqualitydata.us). One row is one result of one
// characteristic. wqpLake is equal to obsLake, so that a rejected row names its lake.
const (
	wqpLake = iota
	wqpLakeName
	wqpSite
	wqpOrg
	wqpOrgName
	wqpActivity
	wqpActivityType
	wqpMedia
	wqpSubdivision
	wqpDate
	wqpTime
	wqpZone
	wqpDepth
	wqpDepthUnit
	wqpTopDepth
	wqpTopDepthUnit
	wqpResultDepth
	wqpResultDepthUnit
	wqpRelativeDepth
	wqpCharacteristic
	wqpCondition
	wqpValue
	wqpUnit
	wqpQualifier
	wqpStatus
	wqpValueType
	wqpMethod
	wqpMethodName
	wqpLimitTypeA
	wqpLimitA
	wqpLimitUnitA
	wqpLimitTypeB
	wqpLimitB
	wqpLimitUnitB
)

// wqpColumns returns the columns as the profiles of WQX 3.0 name them (fullPhysChem, basicPhysChem and narrow), and as those of
// WQX 2.2 do (resultPhysChem). The type of the activity is required: without it the blank of a laboratory is a clean lake.
func wqpColumns() []column {
	two := func(name, legacy string, required bool) column {
		return column{name: name, aliases: []string{legacy}, required: required}
	}
	return []column{
		wqpLake:            two("Location_Identifier", "MonitoringLocationIdentifier", true),
		wqpLakeName:        two("Location_Name", "MonitoringLocationName", false),
		wqpSite:            two("Location_Type", "MonitoringLocationTypeName", false),
		wqpOrg:             two("Org_Identifier", "OrganizationIdentifier", true),
		wqpOrgName:         two("Org_FormalName", "OrganizationFormalName", false),
		wqpActivity:        two("Activity_ActivityIdentifier", "ActivityIdentifier", false),
		wqpActivityType:    two("Activity_TypeCode", "ActivityTypeCode", true),
		wqpMedia:           two("Activity_Media", "ActivityMediaName", false),
		wqpSubdivision:     two("Activity_MediaSubdivision", "ActivityMediaSubdivisionName", false),
		wqpDate:            two("Activity_StartDate", "ActivityStartDate", true),
		wqpTime:            two("Activity_StartTime", "ActivityStartTime/Time", false),
		wqpZone:            two("Activity_StartTimeZone", "ActivityStartTime/TimeZoneCode", false),
		wqpDepth:           two("Activity_DepthHeightMeasure", "ActivityDepthHeightMeasure/MeasureValue", false),
		wqpDepthUnit:       two("Activity_DepthHeightMeasureUnit", "ActivityDepthHeightMeasure/MeasureUnitCode", false),
		wqpTopDepth:        two("Activity_TopDepthMeasure", "ActivityTopDepthHeightMeasure/MeasureValue", false),
		wqpTopDepthUnit:    two("Activity_TopDepthMeasureUnit", "ActivityTopDepthHeightMeasure/MeasureUnitCode", false),
		wqpResultDepth:     two("ResultDepthHeight_Measure", "ResultDepthHeightMeasure/MeasureValue", false),
		wqpResultDepthUnit: two("ResultDepthHeight_MeasureUnit", "ResultDepthHeightMeasure/MeasureUnitCode", false),
		wqpRelativeDepth:   two("Activity_ActivityRelativeDepth", "ActivityRelativeDepthName", false),
		wqpCharacteristic:  two("Result_Characteristic", "CharacteristicName", true),
		wqpCondition:       two("Result_ResultDetectionCondition", "ResultDetectionConditionText", false),
		wqpValue:           two("Result_Measure", "ResultMeasureValue", true),
		wqpUnit:            two("Result_MeasureUnit", "ResultMeasure/MeasureUnitCode", true),
		wqpQualifier:       two("Result_MeasureQualifierCode", "MeasureQualifierCode", false),
		wqpStatus:          two("Result_MeasureStatusIdentifier", "ResultStatusIdentifier", false),
		wqpValueType:       two("Result_MeasureType", "ResultValueTypeName", false),
		wqpMethod:          two("ResultAnalyticalMethod_Identifier", "ResultAnalyticalMethod/MethodIdentifier", false),
		wqpMethodName:      two("ResultAnalyticalMethod_Name", "ResultAnalyticalMethod/MethodName", false),
		wqpLimitTypeA:      two("DetectionLimit_TypeA", "DetectionQuantitationLimitTypeName", false),
		wqpLimitA:          two("DetectionLimit_MeasureA", "DetectionQuantitationLimitMeasure/MeasureValue", false),
		wqpLimitUnitA:      two("DetectionLimit_MeasureUnitA", "DetectionQuantitationLimitMeasure/MeasureUnitCode", false),
		wqpLimitTypeB:      {name: "DetectionLimit_TypeB"},
		wqpLimitB:          {name: "DetectionLimit_MeasureB"},
		wqpLimitUnitB:      {name: "DetectionLimit_MeasureUnitB"},
	}
}

// isPortal reports whether the beginning of a file has the header of results of the portal.
func isPortal(start []byte) bool {
	header, err := newCSV(bytes.NewReader(start), detectSeparator(start, wqpColumns())).Read()
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(h string) bool { return sameColumn(h, name) })
	}
	return err == nil && (has("Result_Characteristic") && has("Result_Measure") || has("CharacteristicName") && has("ResultMeasureValue"))
}

// errPortal is the error of a file of results where another table is wanted.
var errPortal = errors.New("line 1: these are results of the Water Quality Portal: import them as observations, and its file of stations as lakes")

// wqpIncomplete is the beginning of the last line of a file that the portal could not complete. Its answer has the status of a complete one.
const wqpIncomplete = "ERROR: INCOMPLETE DATA"

// incomplete reports whether a row says that the file is not complete.
func incomplete(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return strings.Contains(strings.ToUpper(f), wqpIncomplete) })
}

// portalLayout returns the layout of files of results.
func portalLayout(o *Options, ids *idMaker) (*layout, error) {
	columns := wqpColumns()
	columns[wqpLakeName].required = ids != nil
	l, err := (&Options{Decimal: o.Decimal, Thousands: o.Thousands}).layout(columns, wqpLake, wqpLakeName, ids)
	l.changed, l.named = true, true
	return l, err
}

// sources returns one source for all files of results of the portal, and those of the other files.
func (k observationKind) sources(in *input, files []File) []source[data.Observation] {
	portal := &portal{in: in, form: k.portal, samples: newWQPSamples(k.today)}
	var all []source[data.Observation]
	for i, f := range files {
		_, closeFile, err := in.openRows(f, k.layout, true)
		if err == nil {
			closeFile()
		}
		if errors.Is(err, errPortal) {
			portal.files = append(portal.files, numberedFile{i, f})
			continue
		}
		all = append(all, &fileSource[data.Observation]{kind: k, in: in, number: i, file: f})
	}
	if len(portal.files) > 0 {
		all = append(all, portal)
	}
	return all
}

type numberedFile struct {
	number int
	File
}

// A portal turns files of results, of each of which a row is one result, into rows that are observations: first the results that are
// rejected or left out, then the samples that the others make together.
type portal struct {
	in      *input
	form    *layout
	files   []numberedFile // that are not read
	number  int            // of the open file
	open    *openFile      // or nil
	samples *wqpSamples
}

func (p *portal) next(to *parsed[data.Observation]) error {
	for p.open != nil || len(p.files) > 0 {
		if p.open == nil {
			open, err := p.in.open(p.files[0].File, p.form)
			if err != nil {
				return err
			}
			if t, ok := open.rows.(*table); ok && t.columns[wqpValue].numbers.decimal == 0 {
				// Numbers have a decimal point: the unit differs from row to row, so that other numbers of the column prove nothing.
				t.marks = nil
			}
			p.open, p.number, p.files = open, p.files[0].number, p.files[1:]
		}
		r, err := p.open.next()
		if err == io.EOF {
			p.close()
			continue
		}
		if _, isBad := errors.AsType[badRow](err); err != nil && !isBad {
			return err
		}
		from := origin{file: p.number, number: p.open.number()}
		if err == nil {
			if err = p.samples.add(r, from); err == nil {
				continue
			}
		}
		to.origin = from
		if err = to.refuse(err, r, wqpLake); err != nil {
			return fmt.Errorf("%s: %w", p.open.name, err)
		}
		return nil
	}
	return p.samples.next(to)
}

// unknown returns nothing, because all columns of the portal are known.
func (p *portal) unknown() []string { return nil }

func (p *portal) close() {
	if p.open != nil {
		p.open.close()
		p.open = nil
	}
}
