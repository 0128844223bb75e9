// Package ltsv writes each record as a line of labeled tab-separated values,
// label:value<TAB>label:value, as ltsv.org has them.
//
// What a line holds is labeled's. A value is
//
//	null, missing        no field
//	string               its text; each invalid byte is U+FFFD
//	bool, numbers        as in JSON, exact; NaN, Infinity and -Infinity
//	bin                  its text if it is valid UTF-8
//	other bin, ext       event.BinMark and base64 with padding
//	array, map           JSON
//
// LTSV can't hold a tab or a line break in a value and knows no escape for it:
// they are written as \t, \n and \r. A backslash stays as it is, so a value
// that has those two characters looks the same. In a label a colon is %3A too,
// and an empty label is _.
package ltsv

import (
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/codec/labeled"
)

// New returns the format.
func New(o labeled.Options) codec.BlockFormat {
	return labeled.New(o, labeled.Style{AppendLabel: appendLabel, Finish: escape, Separator: '\t'}, ".ltsv")
}
