package hadoop

import "strings"

// These are the properties of a viewfs mount table, which this plugin doesn't
// follow, below fs.viewfs.mounttable.<table>, as
// Hadoop 3.4's org.apache.hadoop.fs.viewfs.Constants names them.
const (
	linkPrefix   = "link."
	linkFallback = "linkFallback"
	linkSlash    = "linkMergeSlash"
)

// Mounted returns where a path of a mount table leads to, "" if the configuration
// doesn't say. The table "" is the one named "default", as in viewfs:///.
func (c Conf) Mounted(table, path string) string {
	if table == "" {
		table = "default"
	}
	prefix := "fs.viewfs.mounttable." + table + "."
	longest, target := "", ""
	for name := range c.properties {
		at, ok := strings.CutPrefix(name, prefix+linkPrefix)
		if !ok || len(at) <= len(longest) || !within(path, at) {
			continue
		}
		if to, err := c.Get(name); err == nil {
			longest, target = at, to
		}
	}
	for _, whole := range []string{linkSlash, linkFallback} {
		if to, err := c.Get(prefix + whole); target == "" && err == nil {
			target = to
		}
	}
	if target == "" {
		return ""
	}
	return strings.TrimSuffix(target, "/") + strings.TrimPrefix(path, strings.TrimSuffix(longest, "/"))
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, "/"))
	return ok && (rest == "" || rest[0] == '/')
}
