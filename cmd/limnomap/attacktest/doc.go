// Package attacktest attacks the real limnomap as a process: slow readers, floods of weeks, tiles, pages, streams and connections, malformed
// HTTP/1 and HTTP/2, hostile files, subscriptions, receivers of webhooks and sources of refreshes, and a crowd of clients of which half are
// hostile.
//
// For each attack it measures the memory, goroutines and descriptors of the server before, at the peak and after. Meanwhile another process
// requests cached tiles. A third one closes lakes, and asks on each way whether that is told within a minute, or as soon as a server that is
// not attacked tells it if that is slower.
//
// The tests run in a short form with every change. "make test-long" runs them at full length and prints a table. They
// need Linux: they read /proc, and clients have many addresses of 127.0.0.0/8.
package attacktest
