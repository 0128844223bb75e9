package sink

import (
	"context"
	"log/slog"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink/chunk"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/intake"
)

// Config is everything a Sink is built from. It is validated by whoever makes
// it; zero values are meant as they stand and not as defaults.
type Config struct {
	// Disk is the state directory.
	Disk disk.Disk
	// StateDir names it in texts.
	StateDir string
	Log      *slog.Logger
	// Owner names this process and instance to whoever finds the state
	// directory in use.
	Owner string
	// WriterID and DefaultWriterID are journal.Options'.
	WriterID        string
	DefaultWriterID func(state [16]byte) string

	// Target is where new parts go, as scheme://authority, and Base the
	// absolute base path there.
	Target string
	Base   string
	// OpenTarget opens a target: today's, or one that a part of an earlier
	// configuration was rolled for. The Sink closes what it opened.
	OpenTarget func(ctx context.Context, target string) (*fs.Client, error)
	// Upload says how files and directories are made.
	Upload fs.UploadOptions

	// NewAssigner makes an assigner for one goroutine.
	NewAssigner func() assigner.Assigner
	Format      codec.Format
	Letters     chunk.Letters
	Policy      rolling.Policy

	PartPrefix string
	PartSuffix string

	BucketCheckInterval time.Duration
	MaxOpenBuckets      int
	StateLimit          int64 // bytes of journal and staged parts
	MemoryLimit         int64 // bytes of this instance's buffers: half for parts, a quarter for payloads
	SegmentSize         int64 // of the journal; 0 is its default
	Uploads             int   // at a time
	Workers             int   // chunks decoded at a time
	FlushTimeout        time.Duration
	ExitTimeout         time.Duration

	// Directories looks into the directories of Fluent Bit's chunk files.
	Directories intake.Directories
}

// LettersDir is the dead letters' directory below the base path. Its name begins
// with an underscore, so readers of the data skip it.
const LettersDir = "_dead_letters"
