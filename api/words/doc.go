// Package words has the texts of the pages that the server makes, in each of their languages, and says in words what the data say: a lake's
// risk, official statements, numbers and days.
//
// [Words] are what all pages share: the words of the map, below src/words/ of the page's files, and the names and formats of a language,
// below pages/. Each page adds words of its own, which [Load] reads from the page's folder into a [Set].
//
// A language is added by one file in each of these folders, named for the language, and one entry in [Languages]. Tests in each package
// check that no word is missing.
package words
