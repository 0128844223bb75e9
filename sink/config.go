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
	"github.com/out-hdfs/out_hdfs/sink/memory"
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
	// OpenFiles is how many files parts in progress may have open at the moment;
	// it may change at any time. nil is any number. What else the sink opens is
	// OtherFiles.
	OpenFiles    func() int
	StateLimit   int64         // bytes of journal and staged parts
	Memory       memory.Shares // what this instance's buffers may take
	SegmentSize  int64         // of the journal; 0 is its default
	Uploads      int           // at a time
	Workers      int           // chunks decoded at a time
	FlushTimeout time.Duration
	ExitTimeout  time.Duration

	// Directories looks into the directories of Fluent Bit's chunk files.
	Directories intake.Directories
}

// OtherFiles is how many files a sink has open at most beside those of its parts
// in progress, when so many uploads run at a time:
//
//	journal   4  the lock, the segment, a spare being made, a segment being read
//	folders   3  each sealer syncs the staged files' and a start lists
//	chunks    3  /proc/self/maps, a chunk's file, the folder of chunk files
//	control   5  the socket, and the operators at it
//	temps     3  one is removed beside the uploads
//	uploads   3  each: the staged file, and the file and its folder on a disk, or
//	             the connections to a NameNode and a DataNode
func OtherFiles(uploads int) int { return 18 + 3*max(1, uploads) }

// LettersDir is the dead letters' directory below the base path. Its name begins
// with an underscore, so readers of the data skip it.
const LettersDir = "_dead_letters"
