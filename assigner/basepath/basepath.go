// Package basepath is the assigner that knows one bucket: the base path
// itself. It never answers with anything else and never fails.
package basepath

import (
	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/event"
)

// Assigner puts every event into the base path. The zero Assigner is ready and
// safe for concurrent use.
type Assigner struct{}

var _ assigner.Assigner = Assigner{}

// Bucket answers with "".
func (Assigner) Bucket(*event.Event, *assigner.Context) (string, error) { return "", nil }
