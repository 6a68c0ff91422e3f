// Package eventfeed is what all that tells of events have in common, the API, feeds, webhooks and notifications: which events a reader asked
// for ([Filter]), how an event is written as JSON ([Record]), and as a sentence ([Title]).
package eventfeed
