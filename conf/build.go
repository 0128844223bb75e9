package conf

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/assigner/basepath"
	"github.com/out-hdfs/out_hdfs/assigner/datetime"
	"github.com/out-hdfs/out_hdfs/assigner/partition"
	"github.com/out-hdfs/out_hdfs/codec/deadletter"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/rolling"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/localfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// This file, and formats.go beside it, are the one place that names concrete
// parts: a new format, assigner, policy or file system is one package and one
// line here.

// NewRegistry returns the file systems that are built in. Instances of one
// process share it, and with it their clients.
func NewRegistry() *fs.Registry {
	r := fs.NewRegistry()
	r.Register("file", localfs.Opener{})
	r.Register(schemeHDFS, hdfsfs.Opener{System: hadoopSystem(os.Getenv)})
	return r
}

// newAssigner makes the configured assigner. Parse has tried it.
func (s *Settings) newAssigner() (assigner.Assigner, error) {
	switch s.Assigner {
	case AssignerBasePath:
		return basepath.Assigner{}, nil
	case AssignerPartition:
		return partition.New(partition.Options{By: s.PartitionBy, Zone: s.BucketZone, Source: s.BucketTime})
	}
	return datetime.New(datetime.Options{Pattern: s.BucketFormat, Zone: s.BucketZone, Source: s.BucketTime})
}

func (s *Settings) policy() rolling.Policy {
	if s.RollingPolicy == RollingOnCheckpoint {
		return rolling.OnCheckpoint{}
	}
	return rolling.Default{Size: s.RollSize, Interval: s.RollInterval, Inactivity: s.RollInactivity}
}

// letters are dead letters as JSON lines, by the day of arrival in the buckets'
// zone.
type letters struct{ zone *time.Location }

func (l letters) Bucket(arrival time.Time) string {
	return sink.LettersDir + "/" + arrival.In(l.zone).Format(time.DateOnly)
}

func (letters) Suffix() string { return ".json" }

func (letters) Append(dst []byte, b *event.Batch, e *event.Event, reason string) []byte {
	return deadletter.Append(dst, deadletter.FromEvent(e, reason, b.Tag, b.Arrival))
}

// System is the process around an instance.
type System struct {
	Log      *slog.Logger
	Registry *fs.Registry
	// Owner names the process and the instance to whoever finds the state
	// directory in use.
	Owner string
	// Getenv is os.Getenv.
	Getenv func(string) string
	// ChunkFiles lists a directory of Fluent Bit's chunk files.
	ChunkFiles func(dir string) ([]string, error)
}

// Environment is what Parse needs to know of the process.
func (s System) Environment() Environment {
	return Environment{Formats: FormatNames(), Schemes: s.Registry.Schemes(), StateDirectory: s.Getenv("STATE_DIRECTORY")}
}

// Instance is a running sink and the socket on which operators reach it.
type Instance struct {
	*sink.Sink
	control *control.Server // nil if there could be none
}

// Close stops the sink, as sink.Close says, and then the socket.
func (i *Instance) Close() error {
	err := i.Sink.Close()
	if i.control != nil {
		err = errors.Join(err, i.control.Close())
	}
	return err
}

// Open reads an instance's configuration, recovers its state and starts its
// sink. The error joins everything that is wrong with the configuration.
func Open(lookup Lookup, sys System) (*Instance, error) {
	hadoop := findCluster(lookup, hadoopSystem(sys.Getenv))
	env := sys.Environment()
	env.DefaultFS, env.DefaultFSErr = hadoop.defaultFS()
	s, warnings, err := Parse(lookup, env)
	if err != nil {
		return nil, err
	}
	if err := hadoop.name(&s); err != nil {
		return nil, err
	}
	for _, w := range warnings {
		sys.Log.Warn(w)
	}
	if err := s.makeStateDir(); err != nil {
		return nil, err
	}
	cfg, err := s.sinkConfig(sys, hadoop)
	if err != nil {
		return nil, err
	}
	opened, err := sink.Open(cfg)
	if err != nil {
		return nil, err
	}
	sys.Log.Info("writing to "+s.Target.String(), "writer_id", opened.WriterID(), "format", s.Format, "state_dir", s.StateDir)
	if err := remember(s, env); err != nil {
		sys.Log.Warn("the options can't be noted for `out-hdfs drain`", "state_dir", s.StateDir, "error", err)
	}
	server, err := control.Serve(s.StateDir, opened)
	if err != nil {
		sys.Log.Warn("`out-hdfs` can't ask this instance for its status", "state_dir", s.StateDir, "error", err)
	}
	return &Instance{opened, server}, nil
}

func (s *Settings) makeStateDir() error {
	if s.StateDirDefault {
		if err := CheckVolatile(s.StateDir, Statfs); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.StateDir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", KeyStateDir, err)
	}
	return nil
}

// sinkConfig picks the parts.
func (s *Settings) sinkConfig(sys System, hadoop cluster) (sink.Config, error) {
	d, err := disk.NewOS(s.StateDir)
	if err != nil {
		return sink.Config{}, err
	}
	if _, err := s.newAssigner(); err != nil {
		return sink.Config{}, fmt.Errorf("%s: %w", KeyAssigner, err)
	}
	format, err := s.newFormat()
	if err != nil {
		return sink.Config{}, err
	}
	suffix := format.Extension()
	if s.PartSuffix != nil {
		suffix = *s.PartSuffix
	}
	return sink.Config{
		Disk: d, StateDir: s.StateDir, Log: sys.Log, Owner: sys.Owner,
		WriterID: s.WriterID, DefaultWriterID: defaultWriterID,
		Target: s.Target.Scheme + "://" + s.Target.Authority, Base: s.Target.Path,
		OpenTarget: s.openTarget(sys.Registry, hadoop),
		Upload: fs.UploadOptions{
			FileMode: s.FileMode, DirMode: s.DirMode, Replication: s.Replication, BlockSize: s.BlockSize,
		},
		NewAssigner: func() assigner.Assigner {
			a, err := s.newAssigner()
			if err != nil {
				panic("conf: an assigner that was made before can't be made: " + err.Error())
			}
			return a
		},
		Format: format, Letters: letters{s.BucketZone}, Policy: s.policy(),
		PartPrefix: s.PartPrefix, PartSuffix: suffix,
		BucketCheckInterval: s.BucketCheckInterval, MaxOpenBuckets: s.MaxOpenBuckets,
		StateLimit: s.StateLimit, MemoryLimit: s.MemoryLimit, SegmentSize: segmentSize(s.StateLimit),
		Uploads: s.Uploads, Workers: min(runtime.GOMAXPROCS(0), 4),
		FlushTimeout: s.FlushTimeout, ExitTimeout: s.ExitTimeout,
		ChunkFiles: sys.ChunkFiles,
	}, nil
}

// segmentSize keeps what is allocated ahead small beside the limit.
func segmentSize(stateLimit int64) int64 {
	return min(max(stateLimit/32, 4<<20), journal.DefaultSegmentSize)
}

// openTarget opens today's target, or that of a part which an earlier
// configuration rolled.
func (s *Settings) openTarget(r *fs.Registry, hadoop cluster) func(ctx context.Context, target string) (*fs.Client, error) {
	return func(ctx context.Context, target string) (*fs.Client, error) {
		scheme, authority, ok := strings.Cut(target, "://")
		if !ok {
			return nil, fmt.Errorf("target %q has no scheme", target)
		}
		at := fs.Location{Scheme: scheme, Authority: authority, Path: "/"}
		o := fs.Options{Limits: s.Limits[scheme]}
		if scheme == schemeHDFS {
			var err error
			if o.Settings, err = hadoop.settings(); err != nil {
				return nil, err
			}
			o.User = s.HDFSUser
		}
		return r.Acquire(ctx, at, o)
	}
}

// defaultWriterID is the host's name, for people, and some of the state's id,
// since names repeat.
func defaultWriterID(state [16]byte) string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		name = "localhost"
	}
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, name)
	return fmt.Sprintf("%.64s-%x", clean, state[:4])
}

// ListChunkFiles lists a directory of chunk files: a directory that is gone
// has none.
func ListChunkFiles(dir string) ([]string, error) {
	f, err := os.Open(filepath.Clean(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
