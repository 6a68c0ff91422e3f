// Package faulttest tests the real limnomap as a process: what happens when processes are killed, disks are full,
// databases are damaged, clients misbehave, a replica fails, or an operator stops the server. Each test starts limnomap
// with package limnomaptest and compares its answers with the right ones.
//
// The tests run in a short form with every change. "make test-long" runs them at full length.
package faulttest
