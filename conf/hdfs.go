package conf

// HDFSSettings concern HDFS alone.
type HDFSSettings struct {
	ConfDir     string // "" is where Hadoop's own rules find it
	User        string // "" is the driver's default
	Replication int    // 0 is the default
	BlockSize   int64  // 0 is the default
}

// hdfsOptions are what concerns HDFS alone.
func hdfsOptions() []Option {
	return inGroup("HDFS",
		Option{Key: KeyHadoopConfDir, Kind: Path, DefaultText: "`$HADOOP_CONF_DIR`, `$HADOOP_HOME/etc/hadoop`, `/etc/hadoop/conf`",
			Help:    "Where `core-site.xml` and `hdfs-site.xml` are.",
			Example: "/etc/hadoop/conf"}.text(func(s *Settings) *string { return &s.HDFS.ConfDir }, absolute),
		Option{Key: KeyHDFSUser, Kind: Text, DefaultText: "`$HADOOP_USER_NAME`, else the process's user",
			Help: "Who writes, on a cluster without Kerberos.", Example: "logs"}.
			text(func(s *Settings) *string { return &s.HDFS.User }, plain),
		Option{Key: KeyReplication, Default: "0", DefaultText: "`dfs.replication`, else the cluster's",
			Help: "Replicas of a file. 0 is the default."}.number(func(s *Settings) *int { return &s.HDFS.Replication }, 0, 512),
		Option{Key: KeyBlockSize, Default: "0", DefaultText: "`dfs.blocksize`, else the cluster's",
			Help: "Size of a file's blocks. 0 is the default.", Example: "256MiB"}.
			size(func(s *Settings) *int64 { return &s.HDFS.BlockSize }, 0),
	)
}
