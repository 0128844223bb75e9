package commit

import (
	"testing"
	"time"

	"github.com/out-hdfs/out_hdfs/sink/fs"
	"github.com/out-hdfs/out_hdfs/sink/journal"
)

// TestVerdicts: what is found of a file after it may have been published, and
// what that is called.
func TestVerdicts(t *testing.T) {
	at := time.Unix(1_770_000_000, 0)
	a := journal.Attempt{Temp: "/b/.part-w-1.inprogress.x", State: journal.AttemptUploaded, ID: "7", Length: 10, ModTime: at}
	finals := []string{"/b/part-w-1", "/b/part-w-2"}
	nothing := fs.Entry{}
	ours := fs.Entry{Exists: true, Info: infoOf(a)}
	other := fs.Entry{Exists: true, Info: fs.Info{ID: "8", Length: 10, ModTime: at, Closed: true}}
	longer, open, elsewhere, sameName, unseen, older, folder := ours, ours, ours, ours, ours, ours, ours
	longer.Info.Length = 11
	open.Info.Closed = false
	elsewhere.Info.Path = "/archive/part-w-1"
	sameName.Info.Path = "/moved/.part-w-1.inprogress.x"
	unseen.Info = fs.Info{ID: "7", Length: -1}
	older.Info.Path, older.Info.ModTime = "/archive/part-w-1", at.Add(-time.Hour)
	folder.Info.Path, folder.Info.Dir = "/archive", true
	for _, row := range []struct {
		name      string
		temp      fs.Entry
		finals    [2]fs.Entry
		elsewhere fs.Entry
		want      verdict
	}{
		{"nothing happened", ours, [2]fs.Entry{}, nothing, verdict{temp: true}},
		{"the name is taken", ours, [2]fs.Entry{nothing, other}, nothing, verdict{temp: true, taken: true}},
		{"an earlier name is taken", ours, [2]fs.Entry{other, nothing}, nothing, verdict{temp: true}},
		{"published", nothing, [2]fs.Entry{nothing, ours}, nothing, verdict{final: finals[1]}},
		{"published under an earlier name", nothing, [2]fs.Entry{ours, nothing}, nothing, verdict{final: finals[0]}},
		{"published under an earlier name, the last is taken", nothing, [2]fs.Entry{ours, other}, nothing, verdict{final: finals[0], taken: true}},
		{"under both names", ours, [2]fs.Entry{nothing, ours}, nothing, verdict{temp: true, final: finals[1]}},
		{"longer under its temp name", longer, [2]fs.Entry{}, nothing, verdict{changed: true}},
		{"written to under its temp name", open, [2]fs.Entry{}, nothing, verdict{changed: true}},
		{"changed once it was published", nothing, [2]fs.Entry{nothing, longer}, nothing, verdict{taken: true}},
		{"somebody else's temp", other, [2]fs.Entry{}, nothing, verdict{}},
		{"moved by a consumer", nothing, [2]fs.Entry{}, elsewhere, verdict{moved: true}},
		{"moved where we may not look", nothing, [2]fs.Entry{}, unseen, verdict{moved: true}},
		{"moved with its folder", nothing, [2]fs.Entry{}, sameName, verdict{moved: true, astray: true}},
		{"another file of that number", nothing, [2]fs.Entry{}, older, verdict{}},
		{"a folder of that number", nothing, [2]fs.Entry{}, folder, verdict{}},
		{"moved, and the last name is taken", nothing, [2]fs.Entry{nothing, other}, elsewhere, verdict{moved: true, taken: true}},
		{"nowhere", nothing, [2]fs.Entry{}, nothing, verdict{}},
	} {
		place := fs.Place{Names: []fs.Entry{row.temp, row.finals[0], row.finals[1]}, Searched: row.elsewhere.Exists, Elsewhere: row.elsewhere}
		if got := verdictOf(a, finals, place); got != row.want {
			t.Errorf("%s: %+v and not %+v", row.name, got, row.want)
		}
	}
}

// TestAFileWithoutIdentity is never taken for one that was changed: where a
// driver can't tell files apart, the same is all that can be recognised.
func TestAFileWithoutIdentity(t *testing.T) {
	a := journal.Attempt{Temp: "/b/.t", State: journal.AttemptUploaded, Length: 10}
	changed := fs.Entry{Exists: true, Info: fs.Info{Length: 11, Closed: true}}
	if got := verdictOf(a, []string{"/b/f"}, fs.Place{Names: []fs.Entry{changed, {}}}); got != (verdict{}) {
		t.Errorf("%+v", got)
	}
}
