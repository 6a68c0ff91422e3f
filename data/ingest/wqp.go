package ingest

import (
	"bytes"
	"errors"
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
		c := column{name: name, aliases: []string{legacy}, required: required}
		if strings.Contains(legacy, "/") {
			c.aliases = append(c.aliases, strings.ReplaceAll(legacy, "/", ".")) // as R makes it a name
		}
		return c
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
	l, err := (&Options{Decimal: o.Decimal, Thousands: o.Thousands, Table: o.Table}).layout(columns, wqpLake, wqpLakeName, ids)
	// The unit differs from row to row, so that other numbers of the column prove nothing about a number.
	l.changed, l.named, l.points = true, true, l.columns[wqpValue].numbers.decimal == 0
	return l, err
}

// sources returns one source for all files of results of the portal, and those of the other files.
func (k *observationKind) sources(in *input, files []File) []source[data.Observation] {
	var results []int
	var all []source[data.Observation]
	for i, f := range files {
		_, closeFile, err := in.openRows(f, k.layout, true)
		if err == nil {
			closeFile()
		}
		if errors.Is(err, errPortal) {
			results = append(results, i)
			continue
		}
		all = append(all, fileSource(k, i, f))
	}
	if len(results) > 0 {
		all = append(all, k.portalSource(files, results))
	}
	return all
}

// portalSource turns files of results, of each of which a row is one result, into rows that are observations: first the results that are
// rejected or left out, then the samples that the others make together. All columns of the portal are known.
func (k *observationKind) portalSource(files []File, results []int) source[data.Observation] {
	return func(in *input, pass func(parsed[data.Observation]) error) (found findings, err error) {
		samples := newWQPSamples(k.today)
		for _, i := range results {
			of, err := in.eachRow(files[i], i, k.portal, func(r *row, from origin, err error) error {
				if err == nil {
					if err = samples.add(r, from); err == nil {
						return nil
					}
				}
				p := parsed[data.Observation]{origin: from}
				if err = p.refuse(err, r, wqpLake); err != nil {
					return err
				}
				return pass(p)
			})
			found.encodings = append(found.encodings, of.encodings...)
			if err != nil {
				return found, err
			}
		}
		return found, samples.pass(pass)
	}
}
