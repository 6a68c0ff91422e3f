package eventfeed

import (
	"fmt"
	"time"

	"limnomap/data"
)

// Title returns a sentence in English that says what happened, with values as people read them by that profile.
func Title(e *data.Event, places Places, profile *data.Profile) string {
	name := string(e.LakeID)
	if lake, ok := places.Lake(e.LakeID); ok {
		name = lake.Name
	}
	return name + ": " + happened(e, profile)
}

func happened(e *data.Event, profile *data.Profile) string {
	a := &e.Advisory
	switch e.Kind {
	case data.ClassUp:
		return fmt.Sprintf("risk rose from %s to %s", classOf(e.Before, profile), classOf(e.After, profile))
	case data.ClassDown:
		return fmt.Sprintf("risk fell from %s to %s", classOf(e.Before, profile), classOf(e.After, profile))
	case data.BecameCurrent:
		return "there is a current value again, risk " + classOf(e.After, profile)
	case data.BecameStale:
		return fmt.Sprintf("there is no current value any more (last known risk %s); this is not an all-clear", classOf(e.Before, profile))
	case data.AdvisoryIssued:
		return fmt.Sprintf("%s issued by %s", statementOf(a), a.Issuer)
	case data.AdvisoryChanged:
		return fmt.Sprintf("%s changed by %s", statementOf(a), a.Issuer)
	case data.AdvisoryWithdrawn:
		return fmt.Sprintf("%s withdrawn by %s", statementOf(a), a.Issuer)
	case data.AdvisoryExpired:
		return fmt.Sprintf("%s by %s expired", statementOf(a), a.Issuer)
	case data.ForecastExceeds:
		f := &e.Forecast
		issue := data.ForecastIssue{Issued: f.Issued}
		return fmt.Sprintf("forecast of risk %s (level %d) for %s, probability %d %%", f.Level.Risk(), f.Level, issue.Target(f.Week), (int(f.Chance)+50)/100)
	case data.BloomShare:
		return fmt.Sprintf("%d %% of the water that the satellite saw has risk high; the value of the whole lake is %s", (int(e.ShareHigh)+50)/100, classOf(e.After, profile))
	}
	return "changed"
}

// classOf returns the class of a value and the value.
func classOf(v data.EventValue, profile *data.Profile) string {
	if !v.Current() {
		return "unknown"
	}
	return fmt.Sprintf("%s (level %d, %s µg/l)", v.Level.Risk(), v.Level, profile.Rounded(v.Chlorophyll))
}

func statementOf(a *data.EventAdvisory) string {
	kind := map[data.AdvisoryKind]string{data.Season: "statement about the season", data.Info: "information", data.Warning: "warning", data.Closure: "closure"}[a.Kind]
	if a.Cause != data.OtherCause {
		kind += " because of " + a.Cause.String()
	}
	return kind
}

// Details returns further sentences: when the value was measured, and until when a statement is valid.
func Details(e *data.Event) string {
	switch {
	case e.Kind.OfAdvisory() && !e.Advisory.ValidUntil.IsZero():
		return "Valid until " + timeText(e.Advisory.ValidUntil) + "."
	case e.Kind.OfAdvisory():
		return "Its end is not known yet."
	case e.After.MeasuredAt.Known:
		return "Measured at " + timeText(time.Unix(e.After.MeasuredAt.Value, 0)) + "."
	}
	return ""
}
