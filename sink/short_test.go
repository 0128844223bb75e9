package sink_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/sinktest"
)

// swallowing is a target that loses the second half of the first files, and says
// that all is well.
type swallowing struct {
	fs.Driver
	left *atomic.Int32
}

func (d *swallowing) Upload(ctx context.Context, src fs.Source, temp string, o fs.UploadOptions) (fs.Info, error) {
	if d.left.Add(-1) < 0 {
		return d.Driver.Upload(ctx, src, temp, o)
	}
	info, err := d.Driver.Upload(ctx, half{src}, temp, o)
	if _, readErr := src.ReadAt(make([]byte, src.Size()), 0); err == nil && !errors.Is(readErr, io.EOF) {
		err = readErr
	}
	return info, err
}

// half is the first half of a source.
type half struct{ fs.Source }

func (h half) Size() int64 { return h.Source.Size() / 2 }

// TestWhatArrivesIsComparedWithWhatWasSent: a file that is short on the target is
// never published, and the part is uploaded again.
func TestWhatArrivesIsComparedWithWhatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := sinktest.NewWorld(t)
		var left atomic.Int32
		left.Store(2)
		w.Change = func(c *sink.Config) {
			eachRolls(c)
			c.OpenTarget = func(context.Context, string) (*fs.Client, error) {
				return fs.NewClient(&swallowing{w.Watch(w.Store.Driver()), &left}, fs.LimitOptions{}), nil
			}
		}
		s := w.Open()
		w.Must(s, sinktest.One("c0", "b0"))
		w.Must(s, sinktest.One("c1", "b1"))
		time.Sleep(10 * time.Minute)
		if left.Load() >= 0 {
			t.Error("nothing was swallowed")
		}
		w.Close(s)
		w.MustBeRight()
	})
}
