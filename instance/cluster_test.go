package instance

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/out-hdfs/out_hdfs/conf"
)

// TestPathWithoutSchemeBesideABrokenHadoopConfiguration: it may be meant for
// HDFS, so nothing is written to the local disk instead.
func TestPathWithoutSchemeBesideABrokenHadoopConfiguration(t *testing.T) {
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "core-site.xml"), []byte("<configuration><property>"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		set  map[string]string
		env  string   // HADOOP_CONF_DIR
		keys []string // of the mistakes; none is none
	}{
		{"given and broken", map[string]string{conf.KeyHadoopConfDir: broken}, "", []string{conf.KeyPath}},
		{"given and missing", map[string]string{conf.KeyHadoopConfDir: filepath.Join(broken, "missing")}, "", []string{conf.KeyPath}},
		{"found and broken", nil, broken, []string{conf.KeyPath}},
		{"a default of its own", map[string]string{conf.KeyDefaultScheme: "file"}, broken, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			set := map[string]string{conf.KeyPath: t.TempDir(), conf.KeyStateDir: t.TempDir(), conf.KeyStateLimit: "300M"}
			for k, v := range tc.set {
				set[k] = v
			}
			i, err := Open(conf.Map(set), System{
				Log: slog.New(slog.DiscardHandler), Registry: NewRegistry(), Owner: t.Name(),
				Getenv: func(name string) string { return map[string]string{"HADOOP_CONF_DIR": tc.env}[name] },
			})
			if err == nil {
				if err := i.Close(); err != nil {
					t.Error(err)
				}
				if tc.keys != nil {
					t.Error("it is taken for a local path")
				}
				return
			}
			if keys := mistakes(t, err); !slices.Equal(keys, tc.keys) {
				t.Errorf("mistakes at %v, want %v:\n%v", keys, tc.keys, err)
			}
		})
	}
}

// TestHadoopConfigurationThatCanNeverWork is refused at the start: a chunk that
// is accepted for it would wait for ever.
func TestHadoopConfigurationThatCanNeverWork(t *testing.T) {
	for name, property := range map[string]string{
		"Kerberos":           "<name>hadoop.security.authentication</name><value>kerberos</value>",
		"garbage of a size":  "<name>dfs.blocksize</name><value>big</value>",
		"garbage of a umask": "<name>fs.permissions.umask-mode</name><value>none</value>",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			content := "<configuration><property>" + property + "</property></configuration>"
			if err := os.WriteFile(filepath.Join(dir, "core-site.xml"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			set := map[string]string{
				conf.KeyPath: "hdfs://127.0.0.1:1/logs", conf.KeyStateDir: t.TempDir(), conf.KeyStateLimit: "300M", conf.KeyHDFSUser: "alice", conf.KeyHadoopConfDir: dir,
			}
			i, err := Open(conf.Map(set), System{
				Log: slog.New(slog.DiscardHandler), Registry: NewRegistry(), Owner: t.Name(),
				Getenv: func(string) string { return "" },
			})
			if err == nil {
				t.Error("it is accepted", i.Close())
			}
		})
	}
}

// mistakes are the keys of what is wrong with a configuration.
func mistakes(t *testing.T, err error) (keys []string) {
	t.Helper()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v isn't a list of mistakes", err)
	}
	for _, e := range joined.Unwrap() {
		var m *conf.Mistake
		if !errors.As(e, &m) {
			t.Errorf("%v isn't a mistake", e)
			continue
		}
		keys = append(keys, m.Key)
	}
	return keys
}
