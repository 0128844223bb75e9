package readers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// HadoopText runs `hdfs dfs -text` on files below a file system, file:// or an
// HDFS's, and returns its output: what Hadoop's own codecs and its readers of
// SequenceFiles and Avro make of them. jars is a class path.
func HadoopText(ctx context.Context, jars, system string, files ...string) ([]byte, error) {
	site, err := os.MkdirTemp("", "out_hdfs-hadoop-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(site)
	args := []string{"org.apache.hadoop.fs.FsShell", "-D", "fs.defaultFS=" + system + "/", "-text"}
	for _, f := range files {
		args = append(args, system+f)
	}
	cmd, err := java(ctx, site, jars, args...)
	if err != nil {
		return nil, err
	}
	return run(cmd)
}

// localFS is the file system of local files.
const localFS = "file://"

// java runs a program on a class path, in a JVM that starts quickly and says
// nothing but what the program prints. site is a folder for its configuration.
func java(ctx context.Context, site, jars string, program ...string) (*exec.Cmd, error) {
	name := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		name = filepath.Join(home, "bin", "java")
	}
	err := errors.Join(
		os.WriteFile(filepath.Join(site, "core-site.xml"), []byte("<configuration/>\n"), 0o644),
		os.WriteFile(filepath.Join(site, "log4j2.properties"), []byte("rootLogger.level = off\n"), 0o644),
	)
	args := []string{
		"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "--add-opens", "java.base/java.lang=ALL-UNNAMED",
		"-Dfile.encoding=UTF-8", "-cp", site + ":" + jars,
	}
	return exec.CommandContext(ctx, name, append(args, program...)...), err
}

// run returns a command's output; what it said of its failure is in the error.
func run(cmd *exec.Cmd) ([]byte, error) {
	var out, diagnosis bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diagnosis
	if err := cmd.Run(); err != nil {
		said := diagnosis.Bytes()
		return out.Bytes(), fmt.Errorf("%s: %w\n%s", filepath.Base(cmd.Path), err, said[max(0, len(said)-4000):])
	}
	return out.Bytes(), nil
}
