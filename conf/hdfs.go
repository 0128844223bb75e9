package conf

// HDFSSettings concern HDFS alone.
type HDFSSettings struct {
	ConfDir     string // "" is where Hadoop's own rules find it
	User        string // "" is the driver's default
	Principal   string // "" is the ticket cache's, if the cluster wants Kerberos
	Keytab      string // "" is the ticket cache
	Krb5Config  string // "" is $KRB5_CONFIG or /etc/krb5.conf
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
			Help:    "Who writes, on a cluster without Kerberos. With Kerberos whom the principal impersonates, which the cluster must allow (`hadoop.proxyuser.*`).",
			Example: "logs"}.
			text(func(s *Settings) *string { return &s.HDFS.User }, plain),
		Option{Key: KeyKerberosPrincipal, Kind: Text, DefaultText: "that of the ticket cache, if Hadoop's configuration wants Kerberos",
			Help:    "Who logs in, with or without a realm; `_HOST` is this host's name. It makes the plugin use Kerberos whatever `hadoop.security.authentication` says.",
			Example: "logs/_HOST@EXAMPLE.COM"}.
			text(func(s *Settings) *string { return &s.HDFS.Principal }, plain),
		Option{Key: KeyKerberosKeytab, Kind: Path, DefaultText: "the ticket cache (`$KRB5CCNAME`, else `/tmp/krb5cc_<uid>`)",
			Help:    "The principal's keytab. A new one, or a ticket cache that was renewed, is taken up without a restart.",
			Example: "/etc/security/keytabs/logs.keytab"}.
			text(func(s *Settings) *string { return &s.HDFS.Keytab }, absolute),
		Option{Key: KeyKerberosConfig, Kind: Path, DefaultText: "`$KRB5_CONFIG`, else `/etc/krb5.conf`",
			Help: "Kerberos's own configuration: realms and KDCs.", Example: "/etc/krb5.conf"}.
			text(func(s *Settings) *string { return &s.HDFS.Krb5Config }, absolute),
		Option{Key: KeyReplication, Default: "0", DefaultText: "`dfs.replication`, else the cluster's",
			Help: "Replicas of a file. 0 is the default."}.number(func(s *Settings) *int { return &s.HDFS.Replication }, 0, 512),
		Option{Key: KeyBlockSize, Default: "0", DefaultText: "`dfs.blocksize`, else the cluster's",
			Help: "Size of a file's blocks. 0 is the default.", Example: "256MiB"}.
			size(func(s *Settings) *int64 { return &s.HDFS.BlockSize }, 0),
	)
}

func (p *parsing) checkKerberos() {
	if p.has(KeyKerberosKeytab) && !p.has(KeyKerberosPrincipal) {
		p.wrong(KeyKerberosKeytab, "a keytab may have several principals: say which with %s", KeyKerberosPrincipal)
	}
}
