package conf

import (
	"slices"
	"strings"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

// TargetSettings say where files go.
type TargetSettings struct {
	Location      fs.Location // path with default_scheme applied
	DefaultScheme string      // as given; "" is Hadoop's or file:///
}

func targetOptions() []Option {
	return inGroup("Target",
		pathOption(),
		Option{Key: KeyDefaultScheme, Kind: Text, DefaultText: "Hadoop's `fs.defaultFS` if a configuration is found, else `file:///`",
			Help:    "Scheme, and authority if it has one, of a `path` that names none. It is Flink's `fs.default-scheme`.",
			Example: "hdfs://nameservice"}.text(func(s *Settings) *string { return &s.Target.DefaultScheme }, plain),
	)
}

// pathOption keeps the text in Target.Path until check has read it with the
// default scheme.
func pathOption() Option {
	return Option{Key: KeyPath, Kind: Path, Required: true,
		Help: "The base path: `hdfs://nameservice/dir`, `hdfs://host:port/dir`, `hdfs:///dir` (the configured default), `file:///dir`, " +
			"or `/dir` with `default_scheme`.",
		Example: "hdfs://nameservice/logs",
		parse: func(s *Settings, text string) error {
			s.Target.Location.Path = text
			if err := checkPathLiteral(text); err != nil {
				return err
			}
			return checkPlain(text)
		},
		render: func(s *Settings) (string, bool) { return s.Target.Location.String(), true },
	}
}

// longestBase leaves room for a bucket and a name below Linux's 4096 bytes.
const longestBase = 1024

func (p *parsing) checkTarget() {
	s := &p.settings
	fallback := s.Target.DefaultScheme
	switch {
	case fallback != "":
		d, err := fs.ParseTarget("/", fallback)
		if err != nil {
			p.wrong(KeyDefaultScheme, "use a scheme or a file system's URI, such as hdfs://nameservice: %w", err)
			return
		}
		if d.Scheme != "viewfs" && !p.known(KeyDefaultScheme, d.Scheme) {
			return
		}
	case p.env.DefaultFS != "":
		fallback = p.env.DefaultFS
	case p.env.DefaultFSErr != nil && !p.failed[KeyPath] && strings.HasPrefix(s.Target.Location.Path, "/"):
		p.wrong(KeyPath, "it names no scheme, and Hadoop's fs.defaultFS, which would, can't be read: %w; mend that, or write hdfs:// or file:// before the path", p.env.DefaultFSErr)
		return
	default:
		fallback = "file:///"
	}
	if p.failed[KeyPath] || p.failed[KeyDefaultScheme] {
		return
	}
	target, err := fs.ParseTarget(s.Target.Location.Path, fallback)
	switch {
	case err != nil:
		p.wrong(KeyPath, "%w", err)
	case target.Scheme == "viewfs":
		p.wrong(KeyPath, "viewfs mount tables aren't followed, since no rename leads from one file system to another: %s", p.behind(target))
	case !p.known(KeyPath, target.Scheme):
	case target.Scheme == "file" && target.Authority != "":
		p.wrong(KeyPath, "%q is taken for a host, which a local path has none of; write file:///dir with three slashes", target.Authority)
	case target.Scheme != "file" && strings.Contains(target.Path, ":"):
		p.wrong(KeyPath, "Hadoop allows no colon in a path")
	case len(target.Path) > longestBase:
		p.wrong(KeyPath, "it has %d bytes, at most %d are allowed", len(target.Path), longestBase)
	default:
		s.Target.Location = target
	}
}

// behind says what to write instead of a path of a mount table.
func (p *parsing) behind(mounted fs.Location) string {
	if p.env.Mounted != nil {
		if to := p.env.Mounted(mounted.Authority, mounted.Path); to != "" {
			return "write " + to + ", which is what it leads to"
		}
	}
	return "write the hdfs:// path that the mount table has for it (fs.viewfs.mounttable.*)"
}

func (p *parsing) known(key, scheme string) bool {
	if slices.Contains(p.env.Schemes, scheme) {
		return true
	}
	p.wrong(key, "there is no file system for the scheme %q; use one of %s", scheme, strings.Join(p.env.Schemes, ", "))
	return false
}
