package readers

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// HadoopText runs `hdfs dfs -text` on local files and returns its output: what
// Hadoop's own codecs and its reader of SequenceFiles make of them. jars is a
// class path.
func HadoopText(ctx context.Context, jars string, files ...string) ([]byte, error) {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	site, err := os.MkdirTemp("", "out_hdfs-hadoop-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(site)
	for name, text := range map[string]string{
		"core-site.xml": "<configuration/>\n",
		// Standard output belongs to -text.
		"log4j2.properties": "rootLogger.level = off\n",
	} {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	args := []string{
		"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "--add-opens", "java.base/java.lang=ALL-UNNAMED",
		"-Dfile.encoding=UTF-8", "-cp", site + ":" + jars, "org.apache.hadoop.fs.FsShell", "-D", "fs.defaultFS=file:///", "-text",
	}
	for _, f := range files {
		args = append(args, "file://"+f)
	}
	return run(exec.CommandContext(ctx, java, args...))
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
