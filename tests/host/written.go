package host

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Written reads the finished files of JSON lines below dir as a consumer does,
// leaving out every name that begins with a dot or an underscore, and returns
// the records' ids as they come.
func Written(dir string) ([]uint64, error) {
	var ids []uint64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := path != dir && strings.ContainsAny(d.Name()[:1], "._")
		if d.IsDir() {
			if hidden {
				return fs.SkipDir
			}
			return nil
		}
		if hidden {
			return nil
		}
		ids, err = appendIDs(ids, path)
		return err
	})
	return ids, err
}

func appendIDs(ids []uint64, path string) ([]uint64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		var record struct {
			ID *uint64 `json:"id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil || record.ID == nil {
			return nil, fmt.Errorf("%s:%d is no record with an id (%w): %.200s", path, n, err, lines.Bytes())
		}
		ids = append(ids, *record.ID)
	}
	return ids, lines.Err()
}
