// Package hadoop reads Hadoop's client configuration, core-site.xml and
// hdfs-site.xml, the way Hadoop does, and says what the HDFS driver needs from
// it: addresses, sizes, modes and security.
//
// Kept from Hadoop's Configuration: a later file wins over an earlier one
// unless the earlier marks a property as final; names that were deprecated long
// ago still count; ${…} in a value stands for an environment variable
// (${env.NAME}), a property of the user (${user.name}) or another property.
// XInclude brings in local files, relative to the configuration's directory, and
// its fallback counts if the file isn't there. A file may be in any encoding
// that its XML declaration names and IANA knows.
//
// Left out: includes of what isn't a local file, which are refused by name, and
// Hadoop's own built-in defaults, so that a property nobody set is known to be
// unset.
//
// A Conf never changes after it was loaded and is safe for concurrent use.
// Nothing here is written, and no network is used.
package hadoop
