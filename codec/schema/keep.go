package schema

import (
	"fmt"
	"os"
	"path/filepath"
)

// file is the learned schema's in its directory. It is an .avsc like a user's:
// whoever wants today's columns for good names a copy of it.
const file = "schema.avsc"

// longestFile is more than any learned schema takes.
const longestFile = 16 << 20

// load reads what save wrote, nil if there is nothing or if it is damaged.
func load(dir string) *Record {
	if dir == "" {
		return nil
	}
	name := filepath.Join(dir, file)
	if info, err := os.Stat(name); err != nil || info.Size() > longestFile {
		return nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	root, _, err := parseRoot(text)
	if err != nil {
		return nil
	}
	return root
}

// save replaces the file in one step. It isn't synced: after a loss of power
// the old file, the new one or an unreadable one are all well.
func save(dir string, text []byte) error {
	if dir == "" {
		return nil
	}
	name := filepath.Join(dir, file)
	if err := os.WriteFile(name+".tmp", text, 0o600); err != nil {
		return fmt.Errorf("keep the learned schema: %w", err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		return fmt.Errorf("keep the learned schema: %w", err)
	}
	return nil
}
