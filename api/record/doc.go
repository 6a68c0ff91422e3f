// Package record writes the records of answers, such as the state of a lake. A table of columns says what a record has: each column has a
// name, a type and a function that returns its value. The same column is a member in JSON, a property of a GeoJSON feature and a cell of a
// table in CSV. [Columns.Pick] says which columns an answer has, and in which order.
//
// It is written by hand: an answer has thousands of records, and encoding/json would look up by reflection what the columns say. A filtered
// status takes a third of the time.
//
// CSV follows RFC 4180: lines end with CR and LF, which all programs read, and there is no byte-order mark, which R and others read as part
// of the first column's name. A cell is empty where the member in JSON is null. A name that starts like a spreadsheet's formula is not
// changed: the data would be wrong in all other programs, and could not be imported again.
package record
