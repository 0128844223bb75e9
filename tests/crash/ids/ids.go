// Package ids reads back which records finished files hold, by the integer
// field "id" that each record has. It reads every value of every record, with
// readers that share no code with the writers, and fails on a file that isn't
// whole. It never repairs and never skips.
package ids

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/linkedin/goavro/v2"
	"github.com/parquet-go/parquet-go"
)

// errNone is wrapped where a record has no id.
var errNone = errors.New("a record has no id")

// Of returns the ids in a file, in its order. What the file is, its name's end
// says: .json, .json.gz, .parquet, .avro or .seq.
func Of(name string, content []byte) (all []uint64, err error) {
	defer func() { // what the reader can't stand
		if p := recover(); p != nil {
			err = fmt.Errorf("read %s of %d bytes: %v", name, len(content), p)
		}
	}()
	var read func([]byte) ([]uint64, error)
	switch {
	case strings.HasSuffix(name, ".json"):
		read = lines
	case strings.HasSuffix(name, ".json.gz"):
		read = gzipped
	case strings.HasSuffix(name, ".parquet"):
		read = parquetRows
	case strings.HasSuffix(name, ".avro"):
		read = avroRecords
	case strings.HasSuffix(name, ".seq"):
		read = sequenceFile
	default:
		return nil, fmt.Errorf("nobody reads %s", name)
	}
	if all, err = read(content); err != nil {
		return all, fmt.Errorf("read %s of %d bytes: %w", name, len(content), err)
	}
	return all, nil
}

// lines are JSON lines, each ended.
func lines(content []byte) (all []uint64, err error) {
	if len(content) == 0 || content[len(content)-1] != '\n' {
		return nil, io.ErrUnexpectedEOF
	}
	for line := range bytes.Lines(content) {
		id, err := inJSON(line)
		if err != nil {
			return all, err
		}
		all = append(all, id)
	}
	return all, nil
}

func inJSON(record []byte) (uint64, error) {
	var r struct {
		ID *uint64 `json:"id"`
	}
	if err := json.Unmarshal(record, &r); err != nil {
		return 0, fmt.Errorf("%w: %.200s", err, record)
	}
	if r.ID == nil {
		return 0, fmt.Errorf("%w: %.200s", errNone, record)
	}
	return *r.ID, nil
}

// gzipped reads members one behind the other.
func gzipped(content []byte) ([]uint64, error) {
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return lines(plain)
}

func parquetRows(content []byte) (all []uint64, err error) {
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	column, ok := f.Schema().Lookup("id")
	if !ok {
		return nil, fmt.Errorf("%w: there is no such column", errNone)
	}
	buf := make([]parquet.Row, 64)
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		for err == nil {
			var n int
			n, err = rows.ReadRows(buf)
			for _, row := range buf[:n] {
				for _, v := range row {
					if v.Column() != column.ColumnIndex {
						continue
					}
					if v.IsNull() {
						return all, errNone
					}
					all = append(all, uint64(v.Int64()))
				}
			}
		}
		if !errors.Is(err, io.EOF) {
			return all, errors.Join(err, rows.Close())
		}
		if err = rows.Close(); err != nil {
			return all, err
		}
	}
	if f.NumRows() != int64(len(all)) {
		return all, fmt.Errorf("the footer counts %d rows, there are %d", f.NumRows(), len(all))
	}
	return all, nil
}

func avroRecords(content []byte) (all []uint64, err error) {
	r, err := goavro.NewOCFReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	for r.Scan() {
		record, err := r.Read()
		if err != nil {
			return all, err
		}
		fields, _ := record.(map[string]any)
		union, _ := fields["id"].(map[string]any)
		id, ok := union["long"].(int64)
		if !ok {
			return all, fmt.Errorf("%w: %.200v", errNone, record)
		}
		all = append(all, uint64(id))
	}
	return all, r.Err()
}
