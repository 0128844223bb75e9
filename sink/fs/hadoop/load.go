package hadoop

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// files are what a configuration directory is read for, the earlier first.
var files = []string{"core-site.xml", "hdfs-site.xml"}

// Locate returns the directory that Hadoop's configuration is in: given, if it
// isn't "", which then must have one; otherwise the first that has one of
// $HADOOP_CONF_DIR, $HADOOP_HOME/etc/hadoop and /etc/hadoop/conf. It returns ""
// if there is none.
func Locate(given string, s System) (string, error) {
	if given != "" {
		if !hasConfiguration(given) {
			return "", fmt.Errorf("hadoop_conf_dir %s has neither core-site.xml nor hdfs-site.xml that can be read", given)
		}
		return given, nil
	}
	candidates := []string{s.getenv("HADOOP_CONF_DIR"), "", "/etc/hadoop/conf"}
	if home := s.getenv("HADOOP_HOME"); home != "" {
		candidates[1] = filepath.Join(home, "etc", "hadoop")
	}
	for _, dir := range candidates {
		if dir != "" && hasConfiguration(dir) {
			return dir, nil
		}
	}
	return "", nil
}

func hasConfiguration(dir string) bool {
	for _, name := range files {
		if st, err := os.Stat(filepath.Join(dir, name)); err == nil && !st.IsDir() {
			return true
		}
	}
	return false
}

// Load reads the configuration in dir; "" is an empty one. One of the files may
// be missing.
func Load(dir string, s System) (Conf, error) {
	r := newReader()
	if dir == "" {
		return New(nil, s), nil
	}
	for _, name := range files {
		file := filepath.Join(dir, name)
		if err := r.file(file, dir, 0); errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			return Conf{}, fmt.Errorf("read Hadoop's configuration %s: %w", file, err)
		}
	}
	c := New(r.values, s)
	c.files = r.files
	return c, nil
}

// Read reads one file's content.
func Read(in io.Reader, s System) (Conf, error) {
	r := newReader()
	if err := r.document(in, "", 0); err != nil {
		return Conf{}, fmt.Errorf("read Hadoop's configuration: %w", err)
	}
	return New(r.values, s), nil
}
