package hdfsfs

import (
	"slices"
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/fs/hadoop"
)

func TestConfig(t *testing.T) {
	ha := map[string]string{
		"fs.defaultFS": "hdfs://logs", "dfs.nameservices": "logs,other", "dfs.ha.namenodes.logs": "a,b", "dfs.ha.namenodes.other": "c",
		"dfs.namenode.rpc-address.logs.a": "h1:8020", "dfs.namenode.rpc-address.logs.b": "h2:8020", "dfs.namenode.rpc-address.other.c": "h3:8020",
		"dfs.replication": "2", "dfs.blocksize": "256m", "fs.permissions.umask-mode": "027", "dfs.client.use.datanode.hostname": "true",
		"ipc.client.connect.timeout": "5000", "ipc.client.rpc-timeout.ms": "7000", "dfs.client.socket-timeout": "9000",
		"dfs.data.transfer.protection": "integrity",
	}
	c, err := readConfig("", fs.Options{User: "alice", Settings: ha}, hadoop.System{})
	if err != nil {
		t.Fatal(err)
	}
	if c.name != "logs" || !slices.Equal(c.addresses, []string{"h1:8020", "h2:8020"}) {
		t.Errorf("the service is %s at %v", c.name, c.addresses)
	}
	if c.user != "alice" || !c.useHostname || c.replication != 2 || c.blockSize != 256<<20 || c.umask != 0o027 || c.security.Protection != "integrity" {
		t.Errorf("%+v", c)
	}
	if c.connectTimeout != 5*time.Second || c.callTimeout != 7*time.Second || c.dataTimeout != 19*time.Second {
		t.Errorf("timeouts are %v, %v, %v", c.connectTimeout, c.callTimeout, c.dataTimeout)
	}
}

func TestConfigWithoutSettings(t *testing.T) {
	c, err := readConfig("h:1", fs.Options{User: "alice"}, hadoop.System{})
	if err != nil {
		t.Fatal(err)
	}
	if c.replication != 0 || c.blockSize != 0 || c.umask != 0o022 || c.useHostname {
		t.Errorf("%+v", c)
	}
	if c.connectTimeout <= 0 || c.callTimeout <= 0 || c.dataTimeout <= 0 {
		t.Errorf("something waits for ever: %+v", c)
	}
}

func TestConfigNeverWaitsForEver(t *testing.T) {
	c, err := readConfig("h:1", fs.Options{User: "alice", Settings: map[string]string{
		"ipc.client.connect.timeout": "0", "ipc.client.rpc-timeout.ms": "0", "dfs.client.socket-timeout": "0",
	}}, hadoop.System{})
	if err != nil || c.connectTimeout <= 0 || c.callTimeout <= 0 || c.dataTimeout <= 3*pipelineExtra {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestUserName(t *testing.T) {
	env := func(name string) string { return map[string]string{"HADOOP_USER_NAME": "fromenv"}[name] }
	for _, row := range []struct {
		name   string
		option string
		system hadoop.System
		want   string
	}{
		{"the option", "alice", hadoop.System{Getenv: env, User: "os"}, "alice"},
		{"the environment", "", hadoop.System{Getenv: env, User: "os"}, "fromenv"},
		{"the operating system", "", hadoop.System{User: "os"}, "os"},
		{"none", "", hadoop.System{}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := readConfig("h:1", fs.Options{User: row.option}, row.system)
			if c.user != row.want || (err != nil) != (row.want == "") {
				t.Errorf("user is %q, %v", c.user, err)
			}
		})
	}
}

func TestConfigReportsEveryMistake(t *testing.T) {
	_, err := readConfig("a:b:c", fs.Options{Settings: map[string]string{
		"dfs.replication": "many", "dfs.blocksize": "big", "fs.permissions.umask-mode": "none", "dfs.client.use.datanode.hostname": "some",
		"ipc.client.rpc-timeout.ms": "long", "dfs.data.transfer.protection": "some",
	}}, hadoop.System{})
	if err == nil {
		t.Fatal("no error")
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 8 {
		t.Errorf("not eight mistakes: %v", err)
	}
}
