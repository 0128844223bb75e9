package conf

import (
	"errors"
	"path"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/memory"
)

// StateSettings say what the state directory and memory may hold.
type StateSettings struct {
	Dir          string
	DirIsDefault bool // nobody chose it
	Limit        int64
	MemoryLimit  int64
}

const defaultStateDir = "/var/lib/out_hdfs"

// DefaultStateDir is where an instance without state_dir keeps its state.
// stateDirectory is $STATE_DIRECTORY, see Environment.
func DefaultStateDir(stateDirectory string) string {
	if first, _, _ := strings.Cut(stateDirectory, ":"); first != "" {
		return first
	}
	return defaultStateDir
}

func stateDirOption(env Environment) Option {
	fallback := DefaultStateDir(env.StateDirectory)
	o := Option{Key: KeyStateDir, Kind: Path, DefaultText: "`$STATE_DIRECTORY`, else `" + defaultStateDir + "`",
		Help: "Where journal and staged parts are kept: a disk that survives a restart, one directory for each instance, made if it is missing. " +
			"The default is refused on tmpfs and on a container's own layer.",
		Example: defaultStateDir}.text(func(s *Settings) *string { return &s.State.Dir }, absolute)
	o.Default = fallback
	given := o.render
	o.render = func(s *Settings) (string, bool) {
		text, ok := given(s)
		return text, ok && !s.State.DirIsDefault
	}
	return o
}

func stateOptions(env Environment) []Option {
	return inGroup("State",
		stateDirOption(env),
		Option{Key: KeyStateLimit, Default: "10G", Help: "What journal and staged parts may take together on the disk."}.
			size(func(s *Settings) *int64 { return &s.State.Limit }, leastStateLimit),
		Option{Key: KeyMemoryLimit, Default: "256M", Help: "What this instance may take of the agent's memory: chunks, encoders and buffers. The plugin's Go runtime takes up to 48 MB more, once in a process."}.
			size(func(s *Settings) *int64 { return &s.State.MemoryLimit }, leastMemoryLimit),
	)
}

// The least limits that can work: a state that holds some segments of the journal
// beside the parts, and memory for a chunk of Fluent Bit's 2 MB with what encoding
// it takes. How much the uploads need besides, memory.Split says.
const (
	leastStateLimit  = 64e6
	leastMemoryLimit = 16e6
)

// Memory is how memory_limit is divided.
func (s *Settings) Memory() memory.Shares {
	shares, _ := memory.Split(s.State.MemoryLimit, s.Delivery.Uploads) // checkState has looked at the error
	return shares
}

func (p *parsing) checkState() {
	s := &p.settings
	if !p.failed[KeyMemoryLimit] && !p.failed[KeyUploads] {
		if _, err := memory.Split(s.State.MemoryLimit, s.Delivery.Uploads); err != nil {
			p.wrong(KeyMemoryLimit, "%w", err)
		}
	}
	if !p.failed[KeyStateLimit] && !p.failed[KeyRollSize] && rollsByLimit(s) && s.Rolling.Size > s.State.Limit/2 {
		p.wrong(KeyRollSize, "a part is staged below %s %s, so it may be %s at most; lower it or raise %s",
			KeyStateLimit, formatSize(s.State.Limit), formatSize(s.State.Limit/2), KeyStateLimit)
	}
	if p.failed[KeyPath] || p.failed[KeyStateDir] || s.Target.Location.Scheme != "file" {
		return
	}
	if inside(s.State.Dir, s.Target.Location.Path) || inside(s.Target.Location.Path, s.State.Dir) {
		p.wrong(KeyStateDir, "%s and %s %s lie in one another; readers would see staged parts", s.State.Dir, KeyPath, s.Target.Location)
	}
}

// inside reports whether dir is parent or below it; both are clean.
func inside(dir, parent string) bool {
	return dir == parent || parent == "/" || strings.HasPrefix(dir, parent+"/")
}

// absolute checks a directory of this host and cleans it.
func absolute(text string) (string, error) {
	if err := checkPlain(text); err != nil {
		return "", err
	}
	if !path.IsAbs(text) {
		return "", errors.New("it must be an absolute path on this host, such as " + defaultStateDir)
	}
	clean := path.Clean(text)
	if clean == "/" {
		return "", errors.New("it can't be the root directory")
	}
	return clean, nil
}
