package hdfsfs

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestDocumentedRefusals: docs/hdfs.md has a row for each of the NameNode's answers
// that an operator can do something about, in the words of the log.
func TestDocumentedRefusals(t *testing.T) {
	b, err := os.ReadFile("../../../docs/hdfs.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := strings.Split(string(b), "\n")
	for class, v := range exceptions {
		if v.advice == "" || v.advice == adviceWait {
			continue
		}
		row := "| `" + class[strings.LastIndexAny(class, ".$")+1:] + "` | " + v.class.String() + " | " + v.advice + " |"
		if !slices.Contains(documented, row) {
			t.Errorf("docs/hdfs.md lacks the row\n%s", row)
		}
	}
}
