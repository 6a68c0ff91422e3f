// Package sign says what is printed and embedded of one lake: a [Verdict] in a few words for the badge and the picture of a link, and the
// sheet that hangs at the shore.
//
// What hangs for weeks or is embedded in a page of another site must not look like today's state. So each verdict has the day of its
// measurement, and the sheet says that it shows that day.
package sign
