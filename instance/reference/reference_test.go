package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/out-hdfs/out_hdfs/conf"
)

func TestTheReadmeIsUpToDate(t *testing.T) {
	if err := run("../../docs/reference.md", true); err != nil {
		t.Error(err)
	}
}

func TestEveryKeyIsInTheReference(t *testing.T) {
	text := render(conf.Options(builtIn()))
	for _, o := range conf.Options(builtIn()) {
		key := o.Key
		if o.Scheme != "" {
			key = strings.Replace(key, o.Scheme, "<scheme>", 1)
		}
		if n := strings.Count(text, "| `"+key+"` |"); n != 1 {
			t.Errorf("%s comes %d times", key, n)
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 5 {
			t.Errorf("this row has not four columns: %s", line)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, tc := range []struct {
		name, file, want string
	}{
		{"an empty section", "# a\n" + begin + "\n" + end + "\n# b\n", "# a\n" + begin + "\n\nNEW\n" + end + "\n# b\n"},
		{"an old section", begin + "\nold\n" + end, begin + "\n\nNEW\n" + end},
		{"an up to date section", begin + "\n\nNEW\n" + end, begin + "\n\nNEW\n" + end},
		{"no markers", "# a\n", ""},
		{"no end", begin + "\n", ""},
		{"end before begin", end + begin, ""},
		{"twice", begin + end + begin + end, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := replace([]byte(tc.file), "NEW")
			if string(got) != tc.want || (err != nil) != (tc.want == "") {
				t.Errorf("got %q, error %v", got, err)
			}
		})
	}
}

func TestCheckWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reference.md")
	old := "text\n" + begin + "\n" + end + "\ntext\n"
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); !errors.Is(err, errOutOfDate) {
		t.Errorf("error is %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != old {
		t.Errorf("the file is now %q, error %v", now, err)
	}
	if err := run(path, false); err != nil {
		t.Fatal(err)
	}
	if err := run(path, true); err != nil {
		t.Errorf("after writing it: %v", err)
	}
}

func TestASecretSaysSo(t *testing.T) {
	text := render([]conf.Option{{Key: "k", Group: "g", Kind: conf.Text, Secret: true, Help: "a|b"}})
	if !strings.Contains(text, `a\|b`) || !strings.Contains(text, "Shown in no log") {
		t.Error(text)
	}
}
