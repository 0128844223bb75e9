package fs_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/out-hdfs/out_hdfs/sink/fs"
)

func TestParseTarget(t *testing.T) {
	for _, row := range []struct{ name, in, def, want string }{
		{"nameservice", "hdfs://prod/logs", "", "hdfs://prod/logs"},
		{"host and port", "hdfs://nn1.example:8020/logs", "", "hdfs://nn1.example:8020/logs"},
		{"scheme in capitals", "HDFS://Prod/Logs", "", "hdfs://Prod/Logs"},
		{"no authority takes the default's", "hdfs:///logs", "hdfs://prod", "hdfs://prod/logs"},
		{"no authority and a bare default", "hdfs:///logs", "hdfs", "hdfs:///logs"},
		{"no authority and another default", "hdfs:///logs", "file:///", "hdfs:///logs"},
		{"no authority and no default", "hdfs:///logs", "", "hdfs:///logs"},
		{"an authority keeps its own", "hdfs://a/logs", "hdfs://b", "hdfs://a/logs"},
		{"bare path, default is a scheme", "/logs", "file", "file:///logs"},
		{"bare path, default is a URI", "/logs", "hdfs://prod/", "hdfs://prod/logs"},
		{"bare path, default has a path that doesn't count", "/logs", "hdfs://prod/user/x", "hdfs://prod/logs"},
		{"one slash, as Java writes it", "file:/var/data", "", "file:///var/data"},
		{"doubled and trailing slashes", "file:////var//data///", "", "file:///var/data"},
		{"doubled leading slash without scheme", "//var/data", "file:///", "file:///var/data"},
		{"root", "hdfs://prod", "", "hdfs://prod/"},
		{"root with slash", "hdfs://prod/", "", "hdfs://prod/"},
		{"spaces and Chinese", "hdfs://prod/my logs/日志", "", "hdfs://prod/my logs/日志"},
		{"percent is not decoded", "hdfs://prod/a%20b", "", "hdfs://prod/a%20b"},
		{"question mark and hash are names", "hdfs://prod/a?b#c", "", "hdfs://prod/a?b#c"},
		{"colon behind a slash", "/a:b", "file", "file:///a:b"},
		{"dots inside a name", "file:///v1.2_x", "", "file:///v1.2_x"},
		{"scheme with digits and plus", "s3a+x://bucket/dir", "", "s3a+x://bucket/dir"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := fs.ParseTarget(row.in, row.def)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != row.want {
				t.Errorf("ParseTarget(%q, %q) = %s, want %s", row.in, row.def, got, row.want)
			}
		})
	}
}

func TestParseTargetRefuses(t *testing.T) {
	for _, row := range []struct{ name, in, def string }{
		{"nothing", "", "file"},
		{"no scheme anywhere", "/logs", ""},
		{"relative", "logs", "file"},
		{"relative with scheme", "hdfs:logs", ""},
		{"file without any path", "file://", ""},
		{"out and in again", "file:///a/../b", ""},
		{"here", "file:///a/./b", ""},
		{"hidden by a dot", "file:///a/.b/c", ""},
		{"hidden by an underscore", "hdfs://prod/_logs", ""},
		{"control character", "file:///a\nb", ""},
		{"NUL", "file:///a\x00b", ""},
		{"not UTF-8", "file:///a\xffb", ""},
		{"scheme that begins with a digit", "3s://a/b", ""},
		{"no scheme before the colon", "://a/b", ""},
		{"user in the authority", "hdfs://bob@nn/logs", ""},
		{"space in the authority", "hdfs://my nn/logs", ""},
		{"percent in the authority", "hdfs://a%2f/logs", ""},
		{"default that is no scheme", "/logs", "/tmp"},
		{"default with a bad authority", "/logs", "hdfs://a b"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got, err := fs.ParseTarget(row.in, row.def); err == nil {
				t.Errorf("ParseTarget(%q, %q) = %s, want an error", row.in, row.def, got)
			}
		})
	}
}

func FuzzParseTarget(f *testing.F) {
	for _, seed := range [][2]string{
		{"hdfs://prod/logs", ""}, {"hdfs:///a//b/", "hdfs://ns"}, {"/x", "file:///"}, {"//x", "file"},
		{"a:b:c", "d:e"}, {"file:///..", ""}, {"h://a@b/", "::"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, in, def string) {
		got, err := fs.ParseTarget(in, def)
		if err != nil {
			return
		}
		if !path.IsAbs(got.Path) || path.Clean(got.Path) != got.Path || !utf8.ValidString(got.Path) {
			t.Errorf("path %q is not absolute, clean and valid", got.Path)
		}
		for segment := range strings.SplitSeq(got.Path[1:], "/") {
			if strings.HasPrefix(segment, ".") || strings.HasPrefix(segment, "_") {
				t.Errorf("path %q has the hidden segment %q", got.Path, segment)
			}
		}
		if got.Scheme == "" || strings.ContainsAny(got.Authority, "/@ ") {
			t.Errorf("target %#v has no scheme or an odd authority", got)
		}
		if err := fs.CheckPath("fuzz", got.Path); err != nil {
			t.Error(err)
		}
		again, err := fs.ParseTarget(got.String(), "")
		if err != nil || again != got {
			t.Errorf("%s reads back as %s, %v", got, again, err)
		}
	})
}
