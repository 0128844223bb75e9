package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/out-hdfs/out_hdfs/conf"
)

// rememberedName holds the options of the last start in the state directory,
// so that what it holds can be finished without the agent's configuration. It
// is a convenience: nothing depends on it.
const rememberedName = "options.json"

func remember(s conf.Settings, env conf.Environment) error {
	b, err := json.MarshalIndent(s.Values(env), "", "  ")
	if err != nil {
		return err
	}
	name := filepath.Join(s.State.Dir, rememberedName)
	if err := os.WriteFile(name+".new", append(b, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// Remembered are the options of the last start on a state directory.
func Remembered(stateDir string) (map[string]string, error) {
	b, err := os.ReadFile(filepath.Join(stateDir, rememberedName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var values map[string]string
	if err := json.Unmarshal(b, &values); err != nil {
		return nil, fmt.Errorf("%s in %s: %w", rememberedName, stateDir, err)
	}
	return values, nil
}
