package ingest

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"limnomap/data"
	"limnomap/data/store"
	"limnomap/data/store/storetest"
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
func wqpStore(tb testing.TB) *store.Store {
	tb.Helper()
	s := storetest.New(tb)
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

func TestWQPOptions(t *testing.T) {
	s := storetest.New(t)
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
	s := storetest.New(t)
	r := mustImport(t, Lakes, s, nil, legacy)
	if r.Read != 4 || r.Added != 2 || r.LeftOut != 2 || !strings.Contains(r.String(), `1 row: no lake: "Stream".`) {
		t.Errorf("report = %+v, want 2 of 4 added", r)
	}
	if lakes, _ := stored(t, s); len(lakes) != 2 || lakes[0].Name != "Mill Lake" || lakes[0].Point.Lat() != 45.5 || lakes[0].Region != "US" {
		t.Errorf("stored %+v", lakes)
	}
	const wqx3 = "Org_Identifier,Location_Identifier,Location_Name,Location_Type,Location_State,Location_Latitude,Location_Longitude,Location_LatitudeStandardized,Location_LongitudeStandardized\n" +
		"WI,WI-1,Mill Lake,Reservoir,Wisconsin,45.5,-89.25,45.6,-89.35\n"
	s = storetest.New(t)
	mustImport(t, Lakes, s, nil, wqx3)
	if lakes, _ := stored(t, s); len(lakes) != 1 || lakes[0].Point.Lat() != 45.6 || lakes[0].Point.Lon() != -89.35 || lakes[0].Region != "Wisconsin" {
		t.Errorf("stored %+v", lakes)
	}
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
	fuzzObservations(f)
}

// A file of results also has the names and positions of its stations, and is none of lakes.
func TestWQPAll(t *testing.T) {
	texts := []string{wqpFile(t, wqp3Header, wqpChla(nil)),
		"Location_Identifier,Location_Name,Location_Type,Location_LatitudeStandardized,Location_LongitudeStandardized\nWI_WQX-1,Mill Lake,Lake,45,-89\n"}
	var all []File
	for i, text := range texts {
		all = append(all, File{Name: fmt.Sprint(i), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }})
	}
	s := storetest.New(t)
	r, err := All(t.Context(), s, all, nil, func(store.Tx, Reports) error { return nil })
	if err != nil || r.Lakes.Added != 1 || r.Observations.Added != 1 {
		t.Errorf("All = %+v, %v, want a lake and an observation", r, err)
	}
}

// R's dataRetrieval writes a point for each slash in the names of columns, and some organizations write ranges of depths.
func TestWQPNamesAndDepthRanges(t *testing.T) {
	const header = "OrganizationIdentifier,OrganizationFormalName,ActivityIdentifier,ActivityTypeCode,ActivityMediaName,ActivityStartDate,ActivityTopDepthHeightMeasure/MeasureValue,ActivityTopDepthHeightMeasure/MeasureUnitCode," +
		"ActivityDepthHeightMeasure/MeasureValue,ActivityDepthHeightMeasure/MeasureUnitCode,MonitoringLocationIdentifier,CharacteristicName,ResultMeasureValue,ResultMeasure/MeasureUnitCode,ResultStatusIdentifier\n"
	for _, test := range []struct {
		top, topUnit, depth, unit string
		stored                    bool
	}{
		{"0-2", "m", "", "", true},
		{"", "", "0-0.5", "m", true},
		{"", "", "0 to 15", "ft", true},
		{"", "", "5-10", "m", false},
		{"", "", "10", "m", false},
		{"", "", "-1", "m", true},
		{"", "", "30", "cm", true},
	} {
		for _, of := range []string{header, strings.ReplaceAll(header, "/", ".")} {
			s := storetest.New(t)
			mustImport(t, Lakes, s, nil, aLake)
			r := mustImport(t, Observations, s, nil, fmt.Sprintf("%sDEMO,Demo DNR,A1,Sample-Routine,Water,2022-07-04,%s,%s,%s,%s,x,Chlorophyll a,88,ug/l,Final\n", of, test.top, test.topUnit, test.depth, test.unit))
			if stored := r.Added == 1; stored != test.stored || r.Rejected > 0 || stored == (r.LeftOut == 1) {
				t.Errorf("%+v: %v", test, r)
			}
		}
	}
}
