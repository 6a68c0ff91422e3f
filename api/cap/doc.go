// Package cap writes official statements as messages of the Common Alerting Protocol, version 1.2 (OASIS, 1 July 2010), and lists
// them in an Atom feed (RFC 4287).
//
// A message is made from one [Statement] and nothing else: there is no way to make one from a value. Equal statements give equal
// bytes, at any time, so that an identifier never belongs to two messages.
//
// # Identifiers
//
// The identifier of a message is the id of the statement and a hash of all that the authority said. A correction gives another
// identifier, since consumers ignore a message that they have. It does not refer to the message before the correction, as an
// Update would: the data hold only the present text. A withdrawal is a Cancel that refers to the message of the same text.
//
// # Urgency, severity, certainty
//
// A statement has none of the three, so they say only what follows from its kind and its times:
//
//   - The event is the statement itself: a closure is a fact when it begins, for any reason. So certainty is Observed, and Likely
//     if it begins after it was issued.
//   - urgency says how soon after that it begins: Immediate, Expected (within an hour) or Future. It is Unknown if people need to do
//     nothing (information, season) and Past in a Cancel.
//   - severity is Moderate for closures and warnings, which the standard defines as a possible threat to life or property, and Minor
//     for the rest, no known threat. Severe would be a significant threat: that is for the authority to say, and programs that
//     warn the public sound an alarm for it.
//   - responseType is Avoid for closures and warnings, Monitor for information, and None for seasons and in a Cancel. It is never
//     AllClear: a withdrawn statement may have been replaced by another.
//
// A Cancel repeats severity and certainty, so that it passes the filters that its alert passed.
//
// A Publisher is safe for concurrent use.
package cap
