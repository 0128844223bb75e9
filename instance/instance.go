// Package instance assembles a running output from its configuration: it makes
// the state directory, joins the parts that the settings name to a sink, opens
// the socket for operators, and notes the options for `out-hdfs drain`.
//
// It and conf/format.go, conf/buckets.go and conf/rolling.go are where concrete
// parts are named: a new format, assigner, policy or file system is one package
// and one line there. It decides nothing about a record.
package instance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/out-hdfs/out_hdfs/assigner"
	"github.com/out-hdfs/out_hdfs/codec/deadletter"
	"github.com/out-hdfs/out_hdfs/codec/event"
	"github.com/out-hdfs/out_hdfs/codec/schema"
	"github.com/out-hdfs/out_hdfs/conf"
	"github.com/out-hdfs/out_hdfs/sink"
	"github.com/out-hdfs/out_hdfs/sink/chunkfile"
	"github.com/out-hdfs/out_hdfs/sink/control"
	"github.com/out-hdfs/out_hdfs/sink/disk"
	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hdfsfs"
	"github.com/out-hdfs/out_hdfs/sink/fs/localfs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
	"github.com/out-hdfs/out_hdfs/sink/openfiles"
)

// NewRegistry returns the file systems that are built in. Instances of one
// process share it, and with it their clients.
func NewRegistry() *fs.Registry {
	r := fs.NewRegistry()
	r.Register("file", localfs.Opener{})
	r.Register(schemeHDFS, hdfsfs.Opener{System: hadoopSystem(os.Getenv)})
	return r
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
	// Left is what Start shares with the instances before it in this process.
	Left    *Left
	Process *Process // nil is one of its own
	// Owner names the process and the instance to whoever finds the state
	// directory in use.
	Owner string
	// Getenv is os.Getenv.
	Getenv func(string) string
}

// Environment is what Parse needs to know of the process.
func (s System) Environment() conf.Environment {
	return conf.Environment{
		Formats: conf.FormatNames(), Schemes: s.Registry.Schemes(), OpenSchema: schema.Open, StateDirectory: s.Getenv("STATE_DIRECTORY"),
	}
}

// Instance is a running sink and the socket on which operators reach it.
type Instance struct {
	*sink.Sink
	control *control.Server // nil if there could be none
	share   *share
}

// Close stops the sink, as sink.Close says, and then the socket, whose removal
// may hang on the disk like all else.
func (i *Instance) Close() error {
	err := i.Sink.Close()
	socket := make(chan error, 1)
	go func() {
		<-i.Released()
		i.share.leave()
		if i.control == nil {
			socket <- nil
			return
		}
		socket <- i.control.Close()
	}()
	if errors.Is(err, sink.ErrDiskHangs) {
		return err
	}
	wait := time.NewTimer(leaveWait)
	defer wait.Stop()
	select {
	case controlErr := <-socket:
		return errors.Join(err, controlErr)
	case <-wait.C:
		return errors.Join(err, sink.ErrDiskHangs)
	}
}

// Open reads an instance's configuration, recovers its state and starts its
// sink. The error joins everything that is wrong with the configuration.
func Open(lookup conf.Lookup, sys System) (*Instance, error) {
	p, err := prepare(lookup, sys)
	if err != nil {
		return nil, err
	}
	return p.open()
}

// prepared is an instance that is read and not opened.
type prepared struct {
	settings conf.Settings
	env      conf.Environment
	hadoop   cluster
	sys      System
}

// prepare reads an instance's configuration. It alone calls lookup.
func prepare(lookup conf.Lookup, sys System) (*prepared, error) {
	if sys.Process == nil {
		sys.Process = &Process{}
	}
	hadoop := findCluster(lookup, hadoopSystem(sys.Getenv))
	env := sys.Environment()
	env.DefaultFS, env.DefaultFSErr = hadoop.defaultFS()
	s, warnings, err := conf.Parse(lookup, env)
	if err != nil {
		return nil, err
	}
	if err := hadoop.name(&s); err != nil {
		return nil, err
	}
	for _, w := range warnings {
		sys.Log.Warn(w)
	}
	return &prepared{s, env, hadoop, sys}, nil
}

// open recovers the state and starts the sink.
func (p *prepared) open() (*Instance, error) {
	s, sys := p.settings, p.sys
	if err := makeStateDir(&s); err != nil {
		return nil, err
	}
	cfg, err := sinkConfig(&s, sys, p.hadoop)
	if err != nil {
		return nil, err
	}
	share, err := sys.Process.join(s.Delivery.Uploads, s.State.MemoryLimit)
	if err != nil {
		return nil, err
	}
	cfg.OpenFiles = share.parts
	if n := share.parts(); n < s.Buckets.MaxOpen {
		sys.Log.Warn("the limit of open files leaves room for fewer parts in progress than max_open_buckets; they are rolled early",
			"max_open_buckets", s.Buckets.MaxOpen, "files", n, "do", openfiles.Raise)
	}
	opened, err := sink.Open(cfg)
	if err != nil {
		share.leave()
		return nil, err
	}
	sys.Log.Info("writing to "+s.Target.Location.String(), "writer_id", opened.WriterID(), "format", s.Format.Name, "state_dir", s.State.Dir)
	if err := remember(s, p.env); err != nil {
		sys.Log.Warn("the options can't be noted for `out-hdfs drain`", "state_dir", s.State.Dir, "error", err)
	}
	server, err := control.Serve(s.State.Dir, opened)
	if err != nil {
		sys.Log.Warn("`out-hdfs` can't ask this instance for its status", "state_dir", s.State.Dir, "error", err)
	}
	return &Instance{opened, server, share}, nil
}

func makeStateDir(s *conf.Settings) error {
	if s.State.DirIsDefault {
		if err := CheckVolatile(s.State.Dir, Statfs); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.State.Dir, 0o700); err != nil {
		return fmt.Errorf("make %s: %w", conf.KeyStateDir, err)
	}
	return nil
}

// sinkConfig picks the parts.
func sinkConfig(s *conf.Settings, sys System, hadoop cluster) (sink.Config, error) {
	d, err := disk.NewOS(s.State.Dir)
	if err != nil {
		return sink.Config{}, err
	}
	if _, err := s.NewAssigner(); err != nil {
		return sink.Config{}, fmt.Errorf("%s: %w", conf.KeyAssigner, err)
	}
	format, err := s.NewFormat(schema.Open)
	if err != nil {
		return sink.Config{}, err
	}
	suffix := format.Extension()
	if s.Files.Suffix != nil {
		suffix = *s.Files.Suffix
	}
	return sink.Config{
		Disk: d, StateDir: s.State.Dir, Log: sys.Log, Owner: sys.Owner,
		WriterID: s.Files.WriterID, DefaultWriterID: defaultWriterID,
		Target: s.Target.Location.Scheme + "://" + s.Target.Location.Authority, Base: s.Target.Location.Path,
		OpenTarget: openTarget(s, sys.Registry, hadoop),
		Upload: fs.UploadOptions{
			FileMode: s.Files.FileMode, DirMode: s.Files.DirMode, Replication: s.HDFS.Replication, BlockSize: s.HDFS.BlockSize,
		},
		NewAssigner: func() assigner.Assigner {
			a, err := s.NewAssigner()
			if err != nil {
				panic("instance: an assigner that was made before can't be made: " + err.Error())
			}
			return a
		},
		Format: format, Letters: letters{s.Buckets.Zone}, Policy: s.NewPolicy(),
		PartPrefix: s.Files.Prefix, PartSuffix: suffix,
		BucketCheckInterval: s.Rolling.CheckInterval, MaxOpenBuckets: s.Buckets.MaxOpen,
		StateLimit: s.State.Limit, Memory: s.Memory(), SegmentSize: segmentSize(s.State.Limit),
		Uploads: s.Delivery.Uploads, Workers: min(runtime.GOMAXPROCS(0), 4),
		FlushTimeout: s.Delivery.FlushTimeout, ExitTimeout: s.Delivery.ExitTimeout,
		Directories: chunkfile.Directories{},
	}, nil
}

// segmentSize keeps what is allocated ahead small beside the limit.
func segmentSize(stateLimit int64) int64 {
	return min(max(stateLimit/32, 4<<20), journal.DefaultSegmentSize)
}

// openTarget opens today's target, or that of a part which an earlier
// configuration rolled.
func openTarget(s *conf.Settings, r *fs.Registry, hadoop cluster) func(ctx context.Context, target string) (*fs.Client, error) {
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
			o.User = s.HDFS.User
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
