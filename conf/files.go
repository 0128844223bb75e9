package conf

import (
	"errors"
	"fmt"
	"strings"
)

// FileSettings say how files are named and who may read them.
type FileSettings struct {
	Prefix   string
	Suffix   *string // nil is by format and compression
	WriterID string  // "" is the state's own
	FileMode uint32  // 0 is the file system's default
	DirMode  uint32  // 0 is the file system's default
}

func nameOptions() []Option {
	return inGroup("Files",
		Option{Key: KeyPartPrefix, Kind: Text, Default: "part", Help: "What a part's name begins with: `<prefix>-<writer_id>-<n><suffix>`."}.
			text(func(s *Settings) *string { return &s.Files.Prefix }, partPrefix),
		suffixOption(),
		Option{Key: KeyWriterID, Kind: Text, DefaultText: "`<hostname>-<8 hex of the state's id>`",
			Help: "Names this instance in its parts' names; should be unique below `path`. Kept in the state once chosen.", Example: "edge-7"}.
			text(func(s *Settings) *string { return &s.Files.WriterID }, writerID),
		Option{Key: KeyFileMode, Default: "0644", Help: "Permissions of finished files; `none` is the file system's default."}.
			mode(func(s *Settings) *uint32 { return &s.Files.FileMode }, 0o400),
		Option{Key: KeyDirMode, Default: "0755", Help: "Permissions of folders that are made; `none` is the file system's default."}.
			mode(func(s *Settings) *uint32 { return &s.Files.DirMode }, 0o700),
	)
}

func suffixOption() Option {
	return Option{Key: KeyPartSuffix, Kind: Text, DefaultText: "by format, such as `.json`", Empty: true,
		Help:    "What a part's name ends with; `none` is nothing.",
		Example: ".log",
		parse: func(s *Settings, text string) error {
			if err := partName(text); err != nil {
				return err
			}
			if strings.HasSuffix(text, "._COPYING_") {
				return errors.New("a file that ends with ._COPYING_ counts as unfinished to Spark")
			}
			s.Files.Suffix = &text
			return nil
		},
		render: func(s *Settings) (string, bool) {
			switch {
			case s.Files.Suffix == nil:
				return "", false
			case *s.Files.Suffix == "":
				return None, true
			}
			return *s.Files.Suffix, true
		},
	}
}

// partName checks a piece of a part's name.
func partName(text string) error {
	if strings.ContainsAny(text, "/:\\") {
		return errors.New("no slash, colon or backslash is allowed in a file name")
	}
	return checkPlain(text)
}

func partPrefix(text string) (string, error) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "_") {
		return "", fmt.Errorf("a name that starts with %q is hidden from Hive, Spark, Trino and MapReduce", text[:1])
	}
	return text, partName(text)
}

// longestWriterID is a host name's 64 bytes, a dash and 8 more, rounded up.
const longestWriterID = 80

func writerID(text string) (string, error) {
	if len(text) > longestWriterID {
		return "", fmt.Errorf("at most %d characters are allowed", longestWriterID)
	}
	for _, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("._-", c) {
			return "", fmt.Errorf("%q isn't allowed; use letters, digits, dots, underscores and dashes", c)
		}
	}
	return text, nil
}

// An in-progress file's name is .<prefix>-<writer_id>-<n><suffix>.inprogress.<uuid>.
const (
	longestName  = 255 // bytes, on HDFS and Linux
	nameOverhead = len(".--") + 20 + len(".inprogress.") + 36
)

func (p *parsing) checkNames() {
	s := &p.settings
	writer, suffix := len(s.Files.WriterID), 0
	if writer == 0 {
		writer = longestWriterID
	}
	if s.Files.Suffix != nil {
		suffix = len(*s.Files.Suffix)
	}
	over := len(s.Files.Prefix) + writer + suffix + nameOverhead - longestName
	if over <= 0 {
		return
	}
	key := KeyPartPrefix
	if suffix > len(s.Files.Prefix) {
		key = KeyPartSuffix
	}
	p.wrong(key, "with %s a file's name may have %d bytes more than the %d that are allowed; shorten it", KeyWriterID, over, longestName)
}
