// Package lakecard draws pictures about one lake: a [Badge] for web pages and wikis, and a [Preview] for messages and social networks. Each
// says what it is given; it decides nothing about the lake. It holds no state and is safe for concurrent use.
package lakecard
