package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"limnomap/data"
	"limnomap/data/store"
)

// wqp3Header is the header of the profile fullPhysChem of WQX 3.0, whose names the other profiles share.
const wqp3Header = "Org_Identifier,Org_FormalName,Project_Identifier,Project_Name,Project_QAPPApproved,Project_QAPPApprovalAgency," +
	"ProjectAttachment_FileName,ProjectAttachment_FileType,Location_Identifier,Location_Name,Location_Type,Location_Description,Location_State," +
	"Location_CountryName,Location_CountyName,Location_CountryCode,Location_StatePostalCode,Location_CountyCode,Location_HUCEightDigitCode," +
	"Location_HUCTwelveDigitCode,Location_TribalLandIndicator,Location_TribalLand,Location_Latitude,Location_Longitude," +
	"Location_HorzCoordReferenceSystemDatum,Location_LatitudeStandardized,Location_LongitudeStandardized,Location_HorzCoordStandardizedDatum," +
	"AlternateLocation_IdentifierCount,Activity_ActivityIdentifier,Activity_ActivityIdentifierUserSupplied,Activity_TypeCode,Activity_Media," +
	"Activity_MediaSubdivision,Activity_BottomDepthSamplingComponent,ActivityBiological_AssemblageSampled,ActivityBiological_ToxicityTestType," +
	"Activity_ConductingOrganization,Activity_Comment,ActivityLocation_Latitude,ActivityLocation_Longitude," +
	"ActivityLocation_HorzCoordReferenceSystemDatum,ActivityLocation_SourceMapScale,ActivityLocation_LatitudeStandardized," +
	"ActivityLocation_LongitudeStandardized,ActivityLocation_HorzCoordStandardizedDatum,ActivityLocation_HorzAccuracyMeasure," +
	"ActivityLocation_HorzAccuracyMeasureUnit,ActivityLocation_HorizontalAccuracyHorzCollectionMethod,ActivityLocation_Description," +
	"Activity_StartDate,Activity_StartTime,Activity_StartTimeZone,Activity_EndDate,Activity_EndTime,Activity_EndTimeZone," +
	"Activity_DepthHeightMeasure,Activity_DepthHeightMeasureUnit,Activity_BottomDepthAltitudeReferencePoint,Activity_ActivityRelativeDepth," +
	"Activity_TopDepthMeasure,Activity_TopDepthMeasureUnit,Activity_BottomDepthMeasure,Activity_BottomDepthMeasureUnit," +
	"SampleCollectionMethod_Identifier,SampleCollectionMethod_IdentifierContext,SampleCollectionMethod_Name," +
	"SampleCollectionMethod_QualifierTypeName,SampleCollectionMethod_Description,SampleCollectionMethod_EquipmentName," +
	"SampleCollectionMethod_EquipmentComment,SamplePrepMethod_Identifier,SamplePrepMethod_IdentifierContext,SamplePrepMethod_Name," +
	"SamplePrepMethod_QualifierType,SamplePrepMethod_Description,SamplePrepMethod_ContainerLabel,SamplePrepMethod_ContainerType," +
	"SamplePrepMethod_ContainerColor,SamplePrepMethod_ChemicalPreservativeUsed,SamplePrepMethod_ThermalPreservativeUsed," +
	"SamplePrepMethod_TransportStorageDescription,Activity_HydrologicCondition,Activity_HydrologicEvent,ActivityAttachment_FileName," +
	"ActivityAttachment_FileType,ActivityAttachment_FileDownload,Result_DataLoggerLine,Result_ResultDetectionCondition,Result_Characteristic," +
	"Result_CharacteristicUserSupplied,Result_CASNumber,Result_MethodSpeciation,Result_SampleFraction,ResultBiological_Intent," +
	"ResultBiological_IndividualIdentifier,ResultBiological_Taxon,ResultBiological_TaxonUserSupplied,ResultBiological_TaxonUserSuppliedReference," +
	"ResultBiological_UnidentifiedSpeciesIdentifier,ResultBiological_SampleTissueAnatomy,ResultBiological_GroupSummaryCount," +
	"GroupSummaryWeight_Measure,GroupSummaryWeight_MeasureUnit,ResultDepthHeight_Measure,ResultDepthHeight_MeasureUnit," +
	"ResultDepthHeight_AltitudeReferencePoint,ResultDepthHeight_SamplingPointName,ResultDepthHeight_SamplingPointType," +
	"ResultDepthHeight_SamplingPointPlaceInSeries,ResultDepthHeight_SamplingPointComment,ResultDepthHeight_RecordIdentifierUserSupplied," +
	"Result_MeasureIdentifier,Result_Measure,Result_MeasureUnit,Result_MeasureQualifierCode,Result_MeasureStatusIdentifier," +
	"Result_StatisticalBase,Result_StatisticalNValue,Result_MeasureType,Result_WeightBasis,Result_TimeBasis,Result_MeasureTemperatureBasis," +
	"Result_MeasureParticleSizeBasis,DataQuality_PrecisionValue,DataQuality_BiasValue,DataQuality_ConfidenceIntervalValue," +
	"DataQuality_UpperConfidenceLimitValue,DataQuality_LowerConfidenceLimitValue,DataQuality_ResultComment,DetectionLimit_TypeA," +
	"DetectionLimit_MeasureA,DetectionLimit_MeasureUnitA,DetectionLimit_CommentA,DetectionLimit_TypeB,DetectionLimit_MeasureB," +
	"DetectionLimit_MeasureUnitB,DetectionLimit_CommentB,LabInfo_LabSampleSplitRatio,LabInfo_LabAccreditationIndicator," +
	"LabInfo_LabAccreditationAuthority,LabInfo_TaxonAccreditationIndicator,LabInfo_TaxonAccreditationAuthority,ResultAnalyticalMethod_Identifier," +
	"ResultAnalyticalMethod_IdentifierContext,ResultAnalyticalMethod_Name,ResultAnalyticalMethod_QualifierType,ResultAnalyticalMethod_Description," +
	"Result_ComparableMethodIdentifier,Result_ComparableMethodIdentifierContext,Result_ComparableMethodModification,LabInfo_Name," +
	"LabInfo_AnalysisStartDate,LabInfo_AnalysisStartTime,LabInfo_AnalysisStartTimeZone,LabInfo_AnalysisEndDate,LabInfo_AnalysisEndTime," +
	"LabInfo_AnalysisEndTimeZone,LabInfo_LaboratoryComment,LabSamplePrepMethod_Identifier,LabSamplePrepMethod_IdentifierContext," +
	"LabSamplePrepMethod_Name,LabSamplePrepMethod_QualifierType,LabSamplePrepMethod_Description,LabSamplePrepMethod_StartDate," +
	"LabSamplePrepMethod_StartTime,LabSamplePrepMethod_StartTimeZone,LabSamplePrepMethod_EndDate,LabSamplePrepMethod_EndTime," +
	"LabSamplePrepMethod_EndTimeZone,LabSamplePrepMethod_DilutionFactor,ResultAttachment_FileName,ResultAttachment_FileType," +
	"ResultAttachment_FileDownload,ProviderName,Result_CharacteristicComparable,Result_CharacteristicGroup,Org_Type,LastChangeDate,USGSpcode," +
	"USGSSampleAquifer"

// wqp2Header is the header of the profile resultPhysChem of WQX 2.2.
const wqp2Header = "OrganizationIdentifier,OrganizationFormalName,ActivityIdentifier,ActivityTypeCode,ActivityMediaName,ActivityMediaSubdivisionName," +
	"ActivityStartDate,ActivityStartTime/Time,ActivityStartTime/TimeZoneCode,ActivityEndDate,ActivityEndTime/Time,ActivityEndTime/TimeZoneCode," +
	"ActivityDepthHeightMeasure/MeasureValue,ActivityDepthHeightMeasure/MeasureUnitCode,ActivityDepthAltitudeReferencePointText," +
	"ActivityTopDepthHeightMeasure/MeasureValue,ActivityTopDepthHeightMeasure/MeasureUnitCode,ActivityBottomDepthHeightMeasure/MeasureValue," +
	"ActivityBottomDepthHeightMeasure/MeasureUnitCode,ProjectIdentifier,ActivityConductingOrganizationText,MonitoringLocationIdentifier," +
	"ActivityCommentText,SampleAquifer,HydrologicCondition,HydrologicEvent,SampleCollectionMethod/MethodIdentifier," +
	"SampleCollectionMethod/MethodIdentifierContext,SampleCollectionMethod/MethodName,SampleCollectionEquipmentName,ResultDetectionConditionText," +
	"CharacteristicName,ResultSampleFractionText,ResultMeasureValue,ResultMeasure/MeasureUnitCode,MeasureQualifierCode,ResultStatusIdentifier," +
	"StatisticalBaseCode,ResultValueTypeName,ResultWeightBasisText,ResultTimeBasisText,ResultTemperatureBasisText,ResultParticleSizeBasisText," +
	"PrecisionValue,ResultCommentText,USGSPCode,ResultDepthHeightMeasure/MeasureValue,ResultDepthHeightMeasure/MeasureUnitCode," +
	"ResultDepthAltitudeReferencePointText,SubjectTaxonomicName,SampleTissueAnatomyName,ResultAnalyticalMethod/MethodIdentifier," +
	"ResultAnalyticalMethod/MethodIdentifierContext,ResultAnalyticalMethod/MethodName,MethodDescriptionText,LaboratoryName,AnalysisStartDate," +
	"ResultLaboratoryCommentText,DetectionQuantitationLimitTypeName,DetectionQuantitationLimitMeasure/MeasureValue," +
	"DetectionQuantitationLimitMeasure/MeasureUnitCode,PreparationStartDate,ProviderName"

// fields of a row of the portal, by the index of their column.
type wqpFields map[int]string

// wqpChla is a sample of chlorophyll; other fields are changed.
func wqpChla(change wqpFields) wqpFields {
	f := wqpFields{wqpLake: "WI_WQX-1", wqpLakeName: "Mill Lake, deep hole", wqpSite: "Lake", wqpOrg: "WI_WQX", wqpOrgName: "Department of Lakes", wqpActivity: "WI-7",
		wqpActivityType: "Sample-Routine", wqpMedia: "Water", wqpSubdivision: "Surface Water", wqpDate: "2024-07-01", wqpTime: "10:30:00", wqpZone: "CDT",
		wqpDepth: "1", wqpDepthUnit: "ft", wqpCharacteristic: "Chlorophyll a", wqpValue: "12.5", wqpUnit: "ug/l", wqpStatus: "Final",
		wqpMethod: "10200-H", wqpMethodName: "Chlorophyll by spectrophotometer"}
	for c, value := range change {
		f[c] = value
	}
	return f
}

// wqpFile returns rows in the layout of a header.
func wqpFile(tb testing.TB, header string, rows ...wqpFields) string {
	tb.Helper()
	names := strings.Split(header, ",")
	positions, clash := find(wqpColumns(), names)
	if clash != nil {
		tb.Fatalf("the header repeats %v", clash)
	}
	var b strings.Builder
	b.WriteString(header + "\n")
	w := csv.NewWriter(&b)
	for _, row := range rows {
		fields := make([]string, len(names))
		for c, value := range row {
			if positions[c] >= 0 {
				fields[positions[c]] = value
			}
		}
		if err := w.Write(fields); err != nil {
			tb.Fatal(err)
		}
	}
	w.Flush()
	return b.String()
}

// wqpStore has the stations of the tests.
func wqpStore(tb testing.TB) store.Store {
	tb.Helper()
	s := newStore(tb)
	mustImport(tb, Lakes, s, nil, "id,name,lat,lon\nWI_WQX-1,Mill Lake,45,-89\nWI_WQX-2,Round Lake,46,-89\n")
	return s
}

// mustImportWQP imports rows into a new store, and returns the report and the observations.
func mustImportWQP(tb testing.TB, opts *Options, rows ...wqpFields) (Report, []data.Observation) {
	tb.Helper()
	s := wqpStore(tb)
	r := mustImport(tb, Observations, s, opts, wqpFile(tb, wqp3Header, rows...))
	_, observations := stored(tb, s)
	return r, observations
}

// A file of each version gives the same observation: one of several rows, of the results that count.
func TestWQP(t *testing.T) {
	rows := []wqpFields{
		wqpChla(nil),
		wqpChla(wqpFields{wqpCharacteristic: "Depth, Secchi disk depth", wqpValue: "6", wqpUnit: "ft", wqpActivityType: "Field Msr/Obs", wqpDepth: "12", wqpTime: "10:20:00"}),
		wqpChla(wqpFields{wqpCharacteristic: "Temperature, water", wqpValue: "68", wqpUnit: "deg F"}),
		wqpChla(wqpFields{wqpCharacteristic: "Cyanobacteria", wqpValue: "30000", wqpUnit: "cells/mL"}),
		wqpChla(wqpFields{wqpCharacteristic: "Phosphorus", wqpValue: "much", wqpUnit: "mg/l"}),
		wqpChla(wqpFields{wqpActivityType: "Quality Control Sample-Field Blank", wqpValue: "0"}),
		wqpChla(wqpFields{wqpDepth: "30", wqpValue: "90"}),
		wqpChla(wqpFields{wqpMedia: "Sediment", wqpValue: "90"}),
	}
	want := data.Observation{LakeID: "WI_WQX-1", Date: data.DateOf(time.Date(2024, 7, 1, 0, 0, 0, 0, time.UTC)), Type: data.InSitu, Source: "Department of Lakes",
		Chlorophyll: 12_50, Level: data.NoLevel, CellDensity: 30_000, MeasuredAt: time.Date(2024, 7, 1, 15, 30, 0, 0, time.UTC), Quality: data.Good,
		Details: data.Details{Method: "Chlorophyll by spectrophotometer", Secchi: data.Known[data.Hundredths](1_83), WaterTemperature: data.Known[data.Hundredths](20_00)}}
	for name, text := range map[string]string{
		"WQX 3.0": wqpFile(t, wqp3Header, rows...), "WQX 2.2": wqpFile(t, wqp2Header, rows...), "with a mark": "\ufeff" + wqpFile(t, wqp3Header, rows...),
	} {
		t.Run(name, func(t *testing.T) {
			s := wqpStore(t)
			r := mustImport(t, Observations, s, nil, text)
			if _, got := stored(t, s); !slices.Equal(got, []data.Observation{want}) {
				t.Errorf("stored %+v, want %+v", got, want)
			}
			if r.Read != 8 || r.Added != 1 || r.Combined != 3 || r.LeftOut != 4 || r.Rejected+r.Untimed+r.Censored != 0 || len(r.Ignored) != 0 {
				t.Errorf("report = %+v, want 8 rows read, 3 combined, 4 left out", r)
			}
			for _, part := range []string{"8 rows read: 1 added", "3 rows combined with others of the same lake, day and source.\n", "4 rows left out:\n",
				`  1 row: other characteristic: "Phosphorus".`, "  1 row: quality control.", "  1 row: deeper than 2 m.", `  1 row: no surface water: "sediment".`} {
				if !strings.Contains(r.String(), part) {
					t.Errorf("report\n%slacks %q", r, part)
				}
			}
			if r := mustImport(t, Observations, s, nil, text); r.Unchanged != 1 || r.Added+r.Changed != 0 {
				t.Errorf("again: %+v, want it unchanged", r)
			}
		})
	}
	t.Run("tabs", func(t *testing.T) { // without commas in the fields
		text := strings.ReplaceAll(wqpFile(t, wqp3Header, wqpChla(wqpFields{wqpLakeName: "Mill Lake"})), ",", "\t")
		if r := mustImport(t, Observations, wqpStore(t), nil, text); r.Added != 1 {
			t.Errorf("report = %+v, want one added", r)
		}
	})
}

// Which of several results of chlorophyll of a day counts, and what it says.
func TestWQPChlorophyll(t *testing.T) {
	known := data.Known[data.Chlorophyll]
	for _, test := range []struct {
		name     string
		rows     []wqpFields
		chl      data.Chlorophyll
		quality  data.Quality
		details  data.Details
		censored int
	}{
		{"units", []wqpFields{{wqpValue: "0.0345", wqpUnit: "mg/l"}}, 34_50, data.Good, data.Details{}, 0},
		{"another unit", []wqpFields{{wqpValue: "3", wqpUnit: "mg/m3"}}, 3_00, data.Good, data.Details{}, 0},
		{"the highest", []wqpFields{{wqpValue: "5", wqpActivity: "a"}, {wqpValue: "80", wqpActivity: "b"}, {wqpValue: "7", wqpActivity: "c"}}, 80_00, data.Good, data.Details{}, 0},
		{"the better method", []wqpFields{{wqpValue: "9", wqpCharacteristic: "Chlorophyll a, uncorrected for pheophytin"}, {wqpValue: "7", wqpCharacteristic: "Chlorophyll a, corrected for pheophytin"},
			{wqpValue: "30", wqpCharacteristic: "Chlorophyll a (probe)"}}, 7_00, data.Good, data.Details{}, 0},
		{"the better method of another sample", []wqpFields{{wqpValue: "90", wqpActivity: "b", wqpCharacteristic: "Chlorophyll a (probe)"}, {wqpValue: "7", wqpCharacteristic: "Chlorophyll a, corrected for pheophytin"}},
			90_00, data.Good, data.Details{}, 0},
		{"without ids of activities", []wqpFields{{wqpValue: "90", wqpActivity: "", wqpTime: "15:00"}, {wqpValue: "7", wqpActivity: "", wqpCharacteristic: "Chlorophyll a, corrected for pheophytin"}},
			90_00, data.Good, data.Details{}, 0},
		{"a rejected one last", []wqpFields{{wqpValue: "80", wqpStatus: "Rejected"}, {wqpValue: "5", wqpStatus: "Preliminary"}}, 5_00, data.Suspect, data.Details{}, 0},
		{"only a rejected one", []wqpFields{{wqpStatus: "Rejected"}}, 12_50, data.Poor, data.Details{}, 0},
		{"rejected by its qualifier", []wqpFields{{wqpQualifier: "R"}}, 12_50, data.Poor, data.Details{}, 0},
		{"another status", []wqpFields{{wqpStatus: "Historical"}}, 12_50, data.QualityUnknown, data.Details{}, 0},
		{"estimated", []wqpFields{{wqpQualifier: "J;H"}}, 12_50, data.Good, data.Details{Flags: data.FlagsOf(data.Estimated, data.HoldTime)}, 0},
		{"estimated type", []wqpFields{{wqpValueType: "Estimated", wqpQualifier: "XYZ"}}, 12_50, data.Good, data.Details{Flags: data.FlagsOf(data.Estimated)}, 0},
		{"not detected", []wqpFields{{wqpValue: "", wqpCondition: "Not Detected", wqpLimitA: "3", wqpLimitUnitA: "ug/l", wqpLimitTypeA: "Method Detection Level"}},
			1_50, data.Good, data.Details{BelowLimit: true, Upper: known(3_00)}, 1},
		{"the highest limit", []wqpFields{{wqpValue: "", wqpUnit: "", wqpCondition: "Present Below Quantification Limit", wqpLimitA: "0.5", wqpLimitUnitA: "ug/l", wqpLimitB: "0.002", wqpLimitUnitB: "mg/l"}},
			1_00, data.Good, data.Details{BelowLimit: true, Upper: known(2_00)}, 1},
		{"other limits", []wqpFields{{wqpValue: "", wqpCondition: "*Non-detect", wqpLimitA: "900", wqpLimitTypeA: "Upper Quantitation Limit", wqpLimitB: "2", wqpLimitUnitB: ""}},
			1_00, data.Good, data.Details{BelowLimit: true, Upper: known(2_00)}, 1},
		{"a limit as value", []wqpFields{{wqpValue: "<15"}}, 7_50, data.Good, data.Details{BelowLimit: true, Upper: known(15_00)}, 1},
		{"a limit as value, by its qualifier", []wqpFields{{wqpValue: "4", wqpQualifier: "U"}}, 2_00, data.Good, data.Details{BelowLimit: true, Upper: known(4_00)}, 1},
		{"a value before a limit", []wqpFields{{wqpValue: "<15", wqpActivity: "b"}, {wqpValue: "3"}}, 3_00, data.Good, data.Details{}, 0},
		{"above", []wqpFields{{wqpValue: "200", wqpCondition: "Present Above Quantification Limit"}}, 200_00, data.Good,
			data.Details{Lower: known(200_00), Flags: data.FlagsOf(data.OutOfRange)}, 0},
		{"above, as value", []wqpFields{{wqpValue: ">200"}}, 200_00, data.Good, data.Details{Lower: known(200_00), Flags: data.FlagsOf(data.OutOfRange)}, 0},
		{"above, only the limit", []wqpFields{{wqpValue: "", wqpCondition: "Present Above Quantification Limit", wqpLimitA: "300", wqpLimitUnitA: "ug/l", wqpLimitTypeA: "Upper Quantitation Limit"}},
			300_00, data.Good, data.Details{Lower: known(300_00), Flags: data.FlagsOf(data.OutOfRange)}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var rows []wqpFields
			for _, change := range test.rows {
				rows = append(rows, wqpChla(change))
			}
			r, got := mustImportWQP(t, nil, rows...)
			if len(got) != 1 || got[0].Chlorophyll != test.chl || got[0].Quality != test.quality || r.Censored != test.censored {
				t.Fatalf("stored %+v, want one of %v, %q; report %+v", got, test.chl, test.quality, r)
			}
			test.details.Method = "Chlorophyll by spectrophotometer"
			if got[0].Details != test.details {
				t.Errorf("details %+v, want %+v", got[0].Details, test.details)
			}
		})
	}
}

// Rows that are left out, alone in their file.
func TestWQPLeftOut(t *testing.T) {
	for _, test := range []struct {
		reason string
		row    wqpFields
	}{
		{`other characteristic: "pH"`, wqpFields{wqpCharacteristic: "pH"}},
		{`other characteristic: "Chlorophyll a (probe relative fluorescence)"`, wqpFields{wqpCharacteristic: "Chlorophyll a (probe relative fluorescence)"}},
		{"quality control", wqpFields{wqpActivityType: "Quality Control Sample-Lab Duplicate"}},
		{"quality control", wqpFields{wqpActivityType: "Sample-Negative Control"}},
		{`no surface water: "groundwater"`, wqpFields{wqpSubdivision: "Groundwater"}},
		{`no lake: "River/Stream"`, wqpFields{wqpSite: "River/Stream"}},
		{"deeper than 2 m", wqpFields{wqpDepth: "6.6"}},
		{"deeper than 2 m", wqpFields{wqpDepth: "-3", wqpDepthUnit: "m"}},
		{"deeper than 2 m", wqpFields{wqpResultDepth: "2.1", wqpResultDepthUnit: "m"}},
		{"deeper than 2 m", wqpFields{wqpDepth: "", wqpTopDepth: "300", wqpTopDepthUnit: "cm"}},
		{`below the surface, in the layer "bottom"`, wqpFields{wqpDepth: "", wqpRelativeDepth: "Bottom"}},
		{"not detected, and no limit is given", wqpFields{wqpValue: "", wqpCondition: "Not Detected"}},
		{"not detected, and no limit is given", wqpFields{wqpValue: "0", wqpCondition: "Not Detected"}},
		{"not detected, and no limit is given", wqpFields{wqpValue: "ND"}},
		{"no value", wqpFields{wqpValue: ""}},
		{`no value: "Not Reported"`, wqpFields{wqpValue: "7", wqpCondition: "Not Reported"}},
		{`no cell counts: in "ug/l"`, wqpFields{wqpCharacteristic: "Cyanobacteria"}},
		{"below a limit: Secchi depths", wqpFields{wqpCharacteristic: "Secchi depth", wqpCondition: "Not Detected", wqpUnit: "m"}},
		{"rejected by its source: temperatures", wqpFields{wqpCharacteristic: "Temperature, water", wqpUnit: "deg C", wqpStatus: "Rejected"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r, got := mustImportWQP(t, nil, wqpChla(test.row))
			if len(got) != 0 || r.LeftOut != 1 || !r.Written || len(r.LeftOutReasons) != 1 || r.LeftOutReasons[0].Text != test.reason {
				t.Errorf("report = %+v, stored %+v, want it left out: %s", r, got, test.reason)
			}
		})
	}
}

// A bad row between two good ones of other lakes and days.
func TestWQPRejected(t *testing.T) {
	for _, test := range []struct {
		name string
		row  wqpFields
		want []string
	}{
		{"no lake", wqpFields{wqpLake: ""}, []string{"Location_Identifier is missing"}},
		{"invalid id", wqpFields{wqpLake: "11NPS-LK/1"}, []string{`id "11NPS-LK/1"`, "--make-ids makes ids from Location_Name"}},
		{"unknown lake", wqpFields{wqpLake: "WI_WQX-9"}, []string{"the database does not hold this lake"}},
		{"no characteristic", wqpFields{wqpCharacteristic: ""}, []string{"Result_Characteristic is missing"}},
		{"American date", wqpFields{wqpDate: "07/03/2024"}, []string{`Activity_StartDate "07/03/2024"`}},
		{"future", wqpFields{wqpDate: "2099-07-03"}, []string{"date 2099-07-03 is in the future"}},
		{"time", wqpFields{wqpTime: "25:00:00"}, []string{`Activity_StartTime "25:00:00": want a time such as 13:55:00`}},
		{"unit", wqpFields{wqpUnit: "RFU"}, []string{`Result_MeasureUnit "RFU": want a unit of chlorophyll`, "ug/l"}},
		{"no unit", wqpFields{wqpUnit: ""}, []string{`Result_MeasureUnit ""`}},
		{"unit of a limit", wqpFields{wqpCondition: "Not Detected", wqpLimitA: "1", wqpLimitUnitA: "%"}, []string{`DetectionLimit_MeasureUnitA "%"`}},
		{"unit of a depth", wqpFields{wqpDepthUnit: "fathoms"}, []string{`Activity_DepthHeightMeasureUnit "fathoms": want a unit of depths`}},
		{"no number", wqpFields{wqpValue: "green"}, []string{`Result_Measure "green": want a number from 0 to 1500 ug/l`}},
		{"negative", wqpFields{wqpValue: "-0.1"}, []string{`Result_Measure "-0.1"`}},
		{"too high", wqpFields{wqpValue: "2", wqpUnit: "mg/l"}, []string{`Result_Measure "2": want a number from 0 to 1.5 mg/l`}},
		{"a comma", wqpFields{wqpValue: "1,5", wqpUnit: "mg/l"}, []string{`Result_Measure "1,5"`, "without a comma"}},
		{"temperature", wqpFields{wqpCharacteristic: "Temperature, water", wqpUnit: "deg C", wqpValue: "1310"}, []string{`Result_Measure "1310": want a number from -10 to 100 deg C`}},
		{"condition", wqpFields{wqpCondition: "Maybe"}, []string{`Result_ResultDetectionCondition "Maybe"`}},
		{"only cells", wqpFields{wqpCharacteristic: "Cyanobacteria", wqpUnit: "#/l", wqpValue: "5000"}, []string{"5 cells/ml of cyanobacteria without chlorophyll"}},
		{"invisible organization", wqpFields{wqpOrgName: "\u200b"}, []string{"source", "no visible character"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			row := wqpFields{wqpDate: "2024-07-02"}
			for c, value := range test.row {
				row[c] = value
			}
			text := wqpFile(t, wqp3Header, wqpChla(nil), wqpChla(row), wqpChla(wqpFields{wqpLake: "WI_WQX-2"}))
			checkOneRejected(t, Observations, wqpStore(t), text, test.want)
		})
	}
}

// Bad rows are listed in the order of lines, although samples are written after the last row.
func TestWQPBadRowsInOrder(t *testing.T) {
	var rows []wqpFields
	for i := range 60 {
		row := wqpFields{wqpLake: fmt.Sprintf("unknown-%d", i), wqpValue: "1"}
		if i%2 == 1 {
			row[wqpValue] = "green"
		}
		rows = append(rows, wqpChla(row))
	}
	r, _ := mustImportWQP(t, &Options{SkipBad: true}, rows...)
	if r.Rejected != 60 || len(r.Bad) != maxBadRows {
		t.Fatalf("report = %+v, want 60 rejected", r)
	}
	for i, bad := range r.Bad {
		if bad.Line != i+2 || bad.ID != fmt.Sprintf("unknown-%d", i) {
			t.Errorf("bad row %d is %+v, want line %d", i, bad, i+2)
		}
	}
}

// Times without a zone that is known are not guessed.
func TestWQPTimes(t *testing.T) {
	for _, test := range []struct {
		clock, zone string
		want        time.Time
		untimed     int
	}{
		{"10:30:00", "EST", time.Date(2024, 7, 1, 15, 30, 0, 0, time.UTC), 0},
		{"23:30", "AKDT", time.Date(2024, 7, 2, 7, 30, 0, 0, time.UTC), 0},
		{"00:30:00", "NST", time.Date(2024, 7, 1, 4, 0, 0, 0, time.UTC), 0},
		{"01:30:00", "CEST", time.Date(2024, 6, 30, 23, 30, 0, 0, time.UTC), 0},
		{"10:30:00", "", time.Time{}, 1},
		{"10:30:00", "BST", time.Time{}, 1},
		{"", "EST", time.Time{}, 0},
	} {
		r, got := mustImportWQP(t, nil, wqpChla(wqpFields{wqpTime: test.clock, wqpZone: test.zone}))
		if len(got) != 1 || got[0].MeasuredAt != test.want || got[0].Date.String() != "2024-07-01" || r.Untimed != test.untimed {
			t.Errorf("%s %s: stored %+v, want %v; report %+v", test.clock, test.zone, got, test.want, r)
		}
		if want := "1 row without a time of day"; (test.untimed > 0) != strings.Contains(r.String(), want) {
			t.Errorf("%s %s: report\n%s", test.clock, test.zone, r)
		}
	}
}

// Files of several characteristics give the same in one import, in separate imports and in any order.
func TestWQPSeparateFiles(t *testing.T) {
	chl, secchi := wqpFile(t, wqp3Header, wqpChla(nil)), wqpFile(t, wqp3Header, wqpChla(wqpFields{wqpCharacteristic: "Secchi depth", wqpUnit: "m", wqpValue: "1.5", wqpStatus: ""}))
	var want []data.Observation
	for _, imports := range [][][]string{{{chl, secchi}}, {{secchi, chl}}, {{chl}, {secchi}}, {{secchi}, {chl}}, {{chl}, {secchi}, {chl}, {secchi}}} {
		s := wqpStore(t)
		for _, texts := range imports {
			mustImport(t, Observations, s, nil, texts...)
		}
		_, got := stored(t, s)
		if want == nil {
			want = got
		}
		if len(got) != 1 || got[0].Chlorophyll != 12_50 || got[0].Details.Secchi.Value != 1_50 || !slices.Equal(got, want) {
			t.Errorf("stored %+v, want both values", got)
		}
	}
	r, got := mustImportWQP(t, nil, wqpChla(wqpFields{wqpCharacteristic: "Secchi depth", wqpUnit: "m", wqpValue: "1.5"}))
	if r.Added != 1 || len(got) != 1 || got[0].Chlorophyll.Valid() || got[0].Details.Secchi.Value != 1_50 || got[0].MeasuredAt.IsZero() {
		t.Errorf("a Secchi depth only: stored %+v, want a gap with it; report %+v", got, r)
	}
}

// An answer of the portal that it could not complete is an error, also if bad rows are skipped.
func TestWQPIncomplete(t *testing.T) {
	const last = "ERROR: INCOMPLETE DATA - THE RESULTS FOR THIS REQUEST ARE NOT COMPLETE AND MORE DATA IS LIKELY AVAILABLE.  PLEASE RETRY THE REQUEST.\n"
	s := wqpStore(t)
	r, err := Observations(t.Context(), s, files(wqpFile(t, wqp3Header, wqpChla(nil))+last), &Options{SkipBad: true})
	if err == nil || !strings.Contains(err.Error(), "a.csv: line 3: the Water Quality Portal says that it could not complete this file") || r.Written {
		t.Errorf("import = %+v, %v, want an error", r, err)
	}
	if _, got := stored(t, s); len(got) != 0 {
		t.Errorf("stored %+v, want nothing", got)
	}
}

func TestWQPOptions(t *testing.T) {
	s := newStore(t)
	lakes := "Location_Identifier,Location_Name,Location_Type,Location_State,Location_Latitude,Location_Longitude,Location_LatitudeStandardized,Location_LongitudeStandardized\n" +
		"11NPS-LK/1,Crystal Lake,Lake,Wisconsin,45,-89,45.1,-89.1\n"
	mustImport(t, Lakes, s, &Options{MakeIDs: true}, lakes)
	text := wqpFile(t, wqp3Header, wqpChla(wqpFields{wqpLake: "11NPS-LK/1", wqpLakeName: "Crystal Lake", wqpValue: "1,234"}))
	r := mustImport(t, Observations, s, &Options{MakeIDs: true, Thousands: ","}, text)
	_, got := stored(t, s)
	if r.Added != 1 || len(got) != 1 || got[0].LakeID != "crystal_lake" || got[0].Chlorophyll != 1_234_00 {
		t.Errorf("made ids: stored %+v; report %+v", got, r)
	}
	// With a mapping the file is a table like others.
	r = mustImport(t, Observations, s, &Options{Map: Mapping{"lake_id": "Location_Name", "date": "Activity_StartDate", "chl": "Result_Measure"}, Set: Mapping{"data_type": "in_situ"}, MakeIDs: true, SkipBad: true}, text)
	if r.Read != 1 || r.LeftOut+r.Combined != 0 || len(r.Ignored) == 0 {
		t.Errorf("mapped: %+v, want an ordinary table", r)
	}
	if _, err := Observations(t.Context(), s, files(strings.Replace(text, "Activity_TypeCode", "Kind", 1)), nil); err == nil || !strings.Contains(err.Error(), "line 1 lacks the column Activity_TypeCode") {
		t.Errorf("without types of activities: %v, want an error", err)
	}
	if _, err := Lakes(t.Context(), s, files(text), nil); err == nil || !strings.Contains(err.Error(), "these are results of the Water Quality Portal") {
		t.Errorf("results as lakes: %v, want an error", err)
	}
}

// The portal's file of stations.
func TestWQPStations(t *testing.T) {
	const legacy = "OrganizationIdentifier,MonitoringLocationIdentifier,MonitoringLocationName,MonitoringLocationTypeName,LatitudeMeasure,LongitudeMeasure,CountryCode,StateCode\n" +
		"WI,WI-1,Mill Lake,\"Lake, Reservoir, Impoundment\",45.5,-89.25,US,55\nWI,WI-2,Mill River,Stream,45.5,-89.3,US,55\nWI,WI-3,Well 7,Well,45.5,-89.3,US,55\nWI,WI-4,Old Lake,,45.5,-89.3,US,55\n"
	s := newStore(t)
	r := mustImport(t, Lakes, s, nil, legacy)
	if r.Read != 4 || r.Added != 2 || r.LeftOut != 2 || !strings.Contains(r.String(), `1 row: no lake: "Stream".`) {
		t.Errorf("report = %+v, want 2 of 4 added", r)
	}
	if lakes, _ := stored(t, s); len(lakes) != 2 || lakes[0].Name != "Mill Lake" || lakes[0].Point.Lat() != 45.5 || lakes[0].Region != "US" {
		t.Errorf("stored %+v", lakes)
	}
	const wqx3 = "Org_Identifier,Location_Identifier,Location_Name,Location_Type,Location_State,Location_Latitude,Location_Longitude,Location_LatitudeStandardized,Location_LongitudeStandardized\n" +
		"WI,WI-1,Mill Lake,Reservoir,Wisconsin,45.5,-89.25,45.6,-89.35\n"
	s = newStore(t)
	mustImport(t, Lakes, s, nil, wqx3)
	if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Point.Lat() != 45.6 || lakes[0].Point.Lon() != -89.35 || lakes[0].Region != "Wisconsin" {
		t.Errorf("stored %+v", lakes)
	}
}

// What an import holds until its end is bounded.
func TestWQPBounds(t *testing.T) {
	var rows []wqpFields
	for i := range 5 {
		rows = append(rows, wqpChla(wqpFields{wqpActivity: fmt.Sprint(i)}))
	}
	for _, test := range []struct {
		rows []wqpFields
		max  int
		want string
	}{
		{rows, 5, ""},
		{rows, 4, "at most 4 activities with chlorophyll of the Water Quality Portal"},
		{[]wqpFields{wqpChla(nil), wqpChla(wqpFields{wqpDate: "2024-07-02"})}, 1, "at most 1 samples (days of a station and an organization) of the Water Quality Portal"},
	} {
		s := newWQPSamples(20_000)
		s.max = test.max
		rs, end, err := open(strings.NewReader(wqpFile(t, wqp3Header, test.rows...)), observationColumns(), noJSON, &wqpForm{columns: wqpColumns()})
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		for range test.rows {
			r, nextErr := rs.next()
			if nextErr != nil {
				t.Fatal(nextErr)
			}
			if err = s.add(r, origin{number: rs.number()}); err != nil {
				break
			}
		}
		if test.want == "" && err != nil || test.want != "" && (!errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("at most %d: %v, want %q", test.max, err, test.want)
		}
	}
	s := newWQPSamples(20_000)
	long := strings.Repeat("x", maxWQPText/2+1)
	for i, fits := range []bool{true, true, false} { // the second one is the first again
		if _, err := s.number(long + strings.Repeat("y", i/2)); (err == nil) != fits {
			t.Errorf("text %d: %v", i, err)
		}
	}
}

// The observations do not depend on the order of the rows, nor on how they are divided among files.
func TestWQPOrder(t *testing.T) {
	pick := func(rt *rapid.T, name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
	rapid.Check(t, func(rt *rapid.T) {
		var rows []wqpFields
		for range rapid.IntRange(1, 20).Draw(rt, "rows") {
			row := wqpFields{
				wqpLake: pick(rt, "lake", "WI_WQX-1", "WI_WQX-2", "unknown"), wqpDate: pick(rt, "date", "2024-07-01", "2024-07-02"),
				wqpOrgName: pick(rt, "org", "A", "B"), wqpActivity: pick(rt, "activity", "", "1", "2"), wqpTime: pick(rt, "time", "", "09:00:00", "10:00:00"),
				wqpZone: pick(rt, "zone", "EST", "?"), wqpStatus: pick(rt, "status", "", "Final", "Preliminary", "Rejected"),
				wqpQualifier: pick(rt, "qualifier", "", "J", "H", "U"), wqpMethodName: pick(rt, "method", "", "m", "n"),
				wqpValue:          pick(rt, "value", "", "0", "1", "2", "<3", ">4", "-1"),
				wqpCondition:      pick(rt, "condition", "", "", "", "Not Detected", "Present Above Quantification Limit"),
				wqpCharacteristic: pick(rt, "characteristic", "Chlorophyll a", "Chlorophyll a", "Chlorophyll a, corrected for pheophytin", "Chlorophyll a (probe)", "Cyanobacteria", "Secchi depth", "Temperature, water"),
			}
			switch row[wqpCharacteristic] {
			case "Cyanobacteria":
				row[wqpUnit] = "cells/ml"
			case "Secchi depth":
				row[wqpUnit] = "m"
			case "Temperature, water":
				row[wqpUnit] = "deg C"
			}
			rows = append(rows, wqpChla(row))
		}
		once := func(texts ...string) ([]data.Observation, Report) {
			s := wqpStore(t)
			defer s.Close()
			r := mustImport(t, Observations, s, &Options{SkipBad: true}, texts...)
			if len(texts) == 1 {
				checkReport(t, r)
			}
			_, observations := stored(t, s)
			if again := mustImport(t, Observations, s, &Options{SkipBad: true}, texts...); again.Added+again.Changed != 0 {
				rt.Fatalf("again: %+v, want nothing changed", again)
			}
			return observations, r
		}
		want, report := once(wqpFile(t, wqp3Header, rows...))
		seed := rapid.Uint64().Draw(rt, "order")
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		half := len(rows) / 2
		for _, texts := range [][]string{{wqpFile(t, wqp3Header, rows...)}, {wqpFile(t, wqp3Header, rows[:half]...), wqpFile(t, wqp3Header, rows[half:]...)}} {
			got, r := once(texts...)
			if !slices.Equal(got, want) {
				rt.Fatalf("stored %+v, want %+v", got, want)
			}
			if r.Read != report.Read || r.Added != report.Added || r.Rejected != report.Rejected || r.Combined != report.Combined || r.LeftOut != report.LeftOut ||
				r.Untimed != report.Untimed || r.Censored != report.Censored {
				rt.Fatalf("report = %+v, want the same numbers as in %+v", r, report)
			}
		}
	})
}

func FuzzWQP(f *testing.F) {
	short := "Location_Identifier,Location_Name,Location_Type,Org_Identifier,Activity_ActivityIdentifier,Activity_TypeCode,Activity_StartDate,Activity_StartTime,Activity_StartTimeZone," +
		"Activity_DepthHeightMeasure,Activity_DepthHeightMeasureUnit,Result_Characteristic,Result_ResultDetectionCondition,Result_Measure,Result_MeasureUnit,Result_MeasureQualifierCode," +
		"Result_MeasureStatusIdentifier,DetectionLimit_TypeA,DetectionLimit_MeasureA,DetectionLimit_MeasureUnitA,ResultAnalyticalMethod_Name"
	all := []wqpFields{
		wqpChla(wqpFields{wqpLake: "x"}),
		wqpChla(wqpFields{wqpLake: "x", wqpValue: "", wqpCondition: "Not Detected", wqpLimitA: "1e-3", wqpLimitUnitA: "mg/l"}),
		wqpChla(wqpFields{wqpLake: "x", wqpValue: ">1500", wqpQualifier: "J, E; H"}),
		wqpChla(wqpFields{wqpLake: "x", wqpCharacteristic: "Cyanobacteria", wqpUnit: "#/100ml", wqpValue: "<200"}),
		wqpChla(wqpFields{wqpLake: "x", wqpCharacteristic: "Depth, Secchi disk depth", wqpUnit: "in", wqpValue: "3937.007874015748"}),
		wqpChla(wqpFields{wqpLake: "x", wqpCharacteristic: "Temperature, water", wqpUnit: "deg F", wqpValue: "212", wqpTime: "24:00"}),
		wqpChla(wqpFields{wqpLake: "y", wqpMethodName: strings.Repeat("ü", 300)}),
		wqpChla(wqpFields{wqpActivityType: "Quality Control Sample-Trip Blank"}),
	}
	f.Add([]byte(wqpFile(f, short, all...)))
	f.Add([]byte(wqpFile(f, short, all[2:4]...)))
	f.Add([]byte(wqpFile(f, wqp2Header, all...)))
	f.Add([]byte(wqpFile(f, short, all[0]) + "ERROR: INCOMPLETE DATA\n"))
	s := newStore(f)
	mustImport(f, Lakes, s, nil, aLake)
	f.Fuzz(func(t *testing.T, text []byte) {
		checkImport(t, Observations, s, string(text))
		_, err := s.Scan(t.Context(), func(data.Lake) error { return nil }, data.Observation.Check)
		if err != nil {
			t.Errorf("stored an observation that may not be: %v", err)
		}
	})
}

// A file of results also has the names and positions of its stations, and is none of lakes.
func TestWQPAll(t *testing.T) {
	texts := []string{wqpFile(t, wqp3Header, wqpChla(nil)),
		"Location_Identifier,Location_Name,Location_Type,Location_LatitudeStandardized,Location_LongitudeStandardized\nWI_WQX-1,Mill Lake,Lake,45,-89\n"}
	var all []Openable
	for i, text := range texts {
		all = append(all, Openable{Name: fmt.Sprint(i), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
	}
	s := newStore(t)
	r, err := All(t.Context(), s, all, nil, func(store.Tx, Reports) error { return nil })
	if err != nil || r.Lakes.Added != 1 || r.Observations.Added != 1 {
		t.Errorf("All = %+v, %v, want a lake and an observation", r, err)
	}
}
